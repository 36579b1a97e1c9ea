"""The class server with LTI 1.3 in place of passwords: people come from the LMS. An example, never run with an LMS.

It needs jupyterhub-ltiauthenticator in the image. Start the hub with `jupyterhub -f /opt/hub/lti_config.py`. What the
LMS sends as `username_key` has to be the id in the roster: whoever is not in the roster does not get in.
"""

import os
from pathlib import Path

from autograder.hub.settings import hub_settings

c = get_config()  # noqa: F821
load_subconfig(str(Path(__file__).with_name("jupyterhub_config.py").resolve(strict=True)))  # noqa: F821

LMS = os.environ["LTI_ISSUER"]  # such as https://canvas.example.edu
c.JupyterHub.authenticator_class = "ltiauthenticator.lti13.auth.LTI13Authenticator"
c.LTI13Authenticator.issuer = LMS
c.LTI13Authenticator.client_id = {os.environ["LTI_CLIENT_ID"]}  # what the LMS shows when the tool is registered
c.LTI13Authenticator.authorize_url = os.environ.get("LTI_AUTHORIZE_URL", f"{LMS}/api/lti/authorize_redirect")
c.LTI13Authenticator.jwks_endpoint = os.environ.get("LTI_JWKS_URL", f"{LMS}/api/lti/security/jwks")
c.LTI13Authenticator.username_key = "custom_login"  # a custom field of the tool: in Canvas, login=$Canvas.user.loginId
c.LTI13Authenticator.uri_scheme = "https"
c.LTI13Authenticator.allow_all = True  # of those who are in the roster: the hook of jupyterhub_config.py
c.LTI13Authenticator.allowed_users = {hub_settings().account}
