# The course with JupyterLab, nbgrader's extension and the grader. CPU by default; --build-arg GPU=1 adds the CUDA wheels
# (run with --gpus all; the driver is the host's). Any Debian or Ubuntu with Python 3.11 to 3.13 can be the base.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}

SHELL ["/bin/bash", "-o", "pipefail", "-c"]
ENV LANG=C.UTF-8 PYTHONUNBUFFERED=1 PATH=/opt/venv/bin:$PATH

# System packages follow the base image's security updates: pinning them would pin their holes.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        bubblewrap ca-certificates git libseccomp2 make openssl postgresql python3 python3-venv tini \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/*

# Behind a company's certificate authority: mount its file for the build and name it here. It never enters the image.
ARG PIP_CERT
ARG SSL_CERT_FILE

# The locked packages change rarely: a layer of their own, and another for CUDA's 3 GB.
COPY requirements/bootstrap.txt requirements/lock.txt /tmp/requirements/
RUN python3 -m venv /opt/venv \
    && pip install --no-cache-dir --require-hashes -r /tmp/requirements/bootstrap.txt \
    && uv pip install --no-cache --no-build-isolation --compile-bytecode --require-hashes \
        --python /opt/venv/bin/python -r /tmp/requirements/lock.txt
ARG GPU=0
COPY requirements/gpu.txt /tmp/requirements/
RUN if [ "$GPU" != 0 ]; then \
        uv pip install --no-cache --require-hashes --python /opt/venv/bin/python -r /tmp/requirements/gpu.txt; \
    fi

ARG UID=1000
RUN useradd --uid "$UID" --create-home --shell /bin/bash course \
    && install -d -o course -g course /course /srv/nbgrader/exchange /srv/certificates /srv/gradebook
WORKDIR /course
COPY --chown=course:course . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation -e .

USER ${UID}
EXPOSE 8888
# /api answers without a token.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8888/api', timeout=4)"]
ENTRYPOINT ["tini", "--"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser"]
