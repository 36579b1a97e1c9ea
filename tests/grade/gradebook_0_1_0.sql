BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
INSERT INTO "alembic_version" VALUES('e43177bfe90b');
CREATE TABLE assignment (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	duedate DATETIME, 
	course_id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name), 
	FOREIGN KEY(course_id) REFERENCES course (id)
);
INSERT INTO "assignment" VALUES('870c7bd5180646068d4e4a57b393c285','01_tiny','2026-11-02 12:00:00.000000','tiny');
CREATE TABLE base_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	notebook_id VARCHAR(32) NOT NULL, 
	type VARCHAR(50), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id, type), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "base_cell" VALUES('36737f2cdab147bea2f60dfa810a23d8','double','68f36b9d00d44128b3e43d218e3b95b5','GradeCell');
INSERT INTO "base_cell" VALUES('351830433c9e452f81ca00d1fd80abe3','square','68f36b9d00d44128b3e43d218e3b95b5','GradeCell');
INSERT INTO "base_cell" VALUES('b07ed561cf87429199401e5b09d1755d','why','68f36b9d00d44128b3e43d218e3b95b5','GradeCell');
INSERT INTO "base_cell" VALUES('4720d801f49e4714a03a10042d7dcccb','double-code','68f36b9d00d44128b3e43d218e3b95b5','SolutionCell');
INSERT INTO "base_cell" VALUES('d126a2170bfa49c99eff25c1aca6d3a1','square-code','68f36b9d00d44128b3e43d218e3b95b5','SolutionCell');
INSERT INTO "base_cell" VALUES('2c6af97ea8e24260a56b77b1dd7733f7','why','68f36b9d00d44128b3e43d218e3b95b5','SolutionCell');
CREATE TABLE comment (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_comment TEXT, 
	manual_comment TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "comment" VALUES('35ec69d33b7541699b76dbf9b65fac18','80c121042ad141c2965d8ad40631aa06','4720d801f49e4714a03a10042d7dcccb','No response.',NULL);
INSERT INTO "comment" VALUES('0eed798c66d44f92bcf910c6a7cfad87','80c121042ad141c2965d8ad40631aa06','d126a2170bfa49c99eff25c1aca6d3a1','No response.','right');
INSERT INTO "comment" VALUES('cb7b6909c30240b5b3196a62f56ca0b1','80c121042ad141c2965d8ad40631aa06','2c6af97ea8e24260a56b77b1dd7733f7','No response.',NULL);
INSERT INTO "comment" VALUES('2e765c06e46c47f79847d3a168231797','38104ef9f66f4922b7d1d1fe790451d5','4720d801f49e4714a03a10042d7dcccb','No response.',NULL);
INSERT INTO "comment" VALUES('22c1ffe2e1c04fd597656d1c67fe68d3','38104ef9f66f4922b7d1d1fe790451d5','d126a2170bfa49c99eff25c1aca6d3a1','No response.',NULL);
INSERT INTO "comment" VALUES('0d4fd1bc30b3440685144f46329e8a30','38104ef9f66f4922b7d1d1fe790451d5','2c6af97ea8e24260a56b77b1dd7733f7',NULL,'Say which scale.');
CREATE TABLE course (
	id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (id)
);
INSERT INTO "course" VALUES('tiny');
CREATE TABLE course_cases (
	lab VARCHAR(128) NOT NULL, 
	version VARCHAR(128) NOT NULL, 
	digests TEXT NOT NULL, 
	used_at DATETIME, 
	PRIMARY KEY (lab, version)
);
INSERT INTO "course_cases" VALUES('01_tiny','g1','{"double": "d1", "square": "s1"}','2026-11-29 17:54:19.602330');
CREATE TABLE course_date (
	lab VARCHAR(128) NOT NULL, 
	student VARCHAR(128) NOT NULL, 
	written VARCHAR(64) NOT NULL, 
	PRIMARY KEY (lab, student)
);
INSERT INTO "course_date" VALUES('01_tiny','','2026-11-02 12:00:00');
INSERT INTO "course_date" VALUES('01_tiny','bo','1 day, 0:00:00');
CREATE TABLE course_mark_change (
	number INTEGER NOT NULL, 
	student VARCHAR(128) NOT NULL, 
	lab VARCHAR(128) NOT NULL, 
	part VARCHAR(255) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	"by" VARCHAR(128) NOT NULL, 
	"before" FLOAT, 
	"after" FLOAT, 
	because TEXT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "course_mark_change" VALUES(1,'ada','01_tiny','square','2026-11-29 17:54:19.889524','Grace H.',NULL,3.0,'right');
INSERT INTO "course_mark_change" VALUES(2,'bo','01_tiny','why','2026-11-29 17:54:20.004543','grace',NULL,3.5,'');
INSERT INTO "course_mark_change" VALUES(3,'bo','01_tiny','why','2026-11-29 17:54:20.072625','grace',3.5,3.5,'Say which scale.');
INSERT INTO "course_mark_change" VALUES(4,'cy','01_tiny','','2026-11-29 17:54:20.147300','grace',3.5,NULL,'the wrong file');
CREATE TABLE course_removed (
	student VARCHAR(128) NOT NULL, 
	lab VARCHAR(128) NOT NULL, 
	content_hash VARCHAR(128) NOT NULL, 
	removed_at DATETIME NOT NULL, 
	PRIMARY KEY (student, lab)
);
INSERT INTO "course_removed" VALUES('cy','01_tiny','c3','2026-11-29 17:54:20.138743');
CREATE TABLE course_result (
	student VARCHAR(128) NOT NULL, 
	lab VARCHAR(128) NOT NULL, 
	content_hash VARCHAR(128) NOT NULL, 
	grader_version VARCHAR(128) NOT NULL, 
	result TEXT NOT NULL, 
	answers TEXT NOT NULL, 
	graded_at DATETIME NOT NULL, 
	PRIMARY KEY (student, lab)
);
INSERT INTO "course_result" VALUES('ada','01_tiny','c1','g1','{"content_hash": "c1", "exercises": [{"exercise": "double", "groups": [{"message": "", "misconceptions": [], "name": "values", "passed": true, "title": "right values", "weight": 1.0}], "hint": "", "max_score": 2.0, "message": "", "misconceptions": [], "score": 2.0, "seconds": 0.0, "sentences": [], "status": "graded"}, {"exercise": "square", "groups": [], "hint": "", "max_score": 3.0, "message": "", "misconceptions": ["half"], "score": 1.5, "seconds": 0.0, "sentences": ["You halve it."], "status": "graded"}], "file": "ada.ipynb", "grader_version": "g1", "lab": "01_tiny", "reason": "", "repairs": [], "state": "graded", "student": "ada", "timestamp": "2026-11-03T11:00:00+00:00"}','{"double": "a6a7605ee001e218f6c8cd9d8aa09e2013769b494c5cf1d42f3a9b6d02bae584", "square": "26a0b9f7d28f2b337758df8862bf21804c8123caf9a58fb80d8d938c5a051901", "why": "9fe7f7bb92c6f5f343df822c3a1e002c072dcd4eb26c8a154c841a86772253fd"}','2026-11-29 17:54:19.779553');
INSERT INTO "course_result" VALUES('bo','01_tiny','c2','g1','{"content_hash": "c2", "exercises": [{"exercise": "double", "groups": [{"message": "", "misconceptions": [], "name": "values", "passed": true, "title": "right values", "weight": 1.0}], "hint": "", "max_score": 2.0, "message": "", "misconceptions": [], "score": 2.0, "seconds": 0.0, "sentences": [], "status": "graded"}, {"exercise": "square", "groups": [], "hint": "", "max_score": 3.0, "message": "", "misconceptions": ["half"], "score": 1.5, "seconds": 0.0, "sentences": ["You halve it."], "status": "graded"}], "file": "", "grader_version": "g1", "lab": "01_tiny", "reason": "", "repairs": [], "state": "needs_manual_grade", "student": "bo", "timestamp": "2026-11-03T11:00:00+00:00"}','{"double": "a6a7605ee001e218f6c8cd9d8aa09e2013769b494c5cf1d42f3a9b6d02bae584", "square": "26a0b9f7d28f2b337758df8862bf21804c8123caf9a58fb80d8d938c5a051901", "why": "8e18bd2e335cd21ec45b4625678dc0095a0dc42605d87dad88ecf36270c22b77"}','2026-11-29 17:54:19.779553');
CREATE TABLE grade (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_score FLOAT, 
	manual_score FLOAT, 
	extra_credit FLOAT, 
	needs_manual_grade BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "grade" VALUES('e9db6b73997e45559f7eaff9f78c660c','80c121042ad141c2965d8ad40631aa06','36737f2cdab147bea2f60dfa810a23d8',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('9b33a561fb2546e8946b7877ee87da7f','80c121042ad141c2965d8ad40631aa06','351830433c9e452f81ca00d1fd80abe3',1.5,3.0,NULL,0);
INSERT INTO "grade" VALUES('9fbeba5494034b68899890b954a0e1d7','80c121042ad141c2965d8ad40631aa06','b07ed561cf87429199401e5b09d1755d',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('5d5cef3f7314442796c5c302ecb91227','38104ef9f66f4922b7d1d1fe790451d5','36737f2cdab147bea2f60dfa810a23d8',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('586332dd8b2f40e8a7fb9eda2ae031d2','38104ef9f66f4922b7d1d1fe790451d5','351830433c9e452f81ca00d1fd80abe3',1.5,NULL,NULL,0);
INSERT INTO "grade" VALUES('4fcd707f60a84af0943419ee1b1e5cfd','38104ef9f66f4922b7d1d1fe790451d5','b07ed561cf87429199401e5b09d1755d',NULL,3.0,0.5,0);
CREATE TABLE grade_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "grade_cells" VALUES('36737f2cdab147bea2f60dfa810a23d8',2.0,'code');
INSERT INTO "grade_cells" VALUES('351830433c9e452f81ca00d1fd80abe3',3.0,'code');
INSERT INTO "grade_cells" VALUES('b07ed561cf87429199401e5b09d1755d',4.0,'markdown');
CREATE TABLE notebook (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	assignment_id VARCHAR(32), 
	kernelspec VARCHAR(1024), 
	PRIMARY KEY (id), 
	UNIQUE (name, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id)
);
INSERT INTO "notebook" VALUES('68f36b9d00d44128b3e43d218e3b95b5','01_tiny','870c7bd5180646068d4e4a57b393c285','{"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}');
CREATE TABLE solution_cells (
	id VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "solution_cells" VALUES('4720d801f49e4714a03a10042d7dcccb');
INSERT INTO "solution_cells" VALUES('d126a2170bfa49c99eff25c1aca6d3a1');
INSERT INTO "solution_cells" VALUES('2c6af97ea8e24260a56b77b1dd7733f7');
CREATE TABLE source_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	locked BOOLEAN NOT NULL, 
	source TEXT, 
	checksum VARCHAR(128), 
	notebook_id VARCHAR(32), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "source_cell" VALUES('390e2ece5bb44145a40ead93168e0ecd','setup','code',1,'# Colab: install the course''s helper package. Anywhere else this cell says how, where it is missing.
import sys
from importlib.util import find_spec

if "google.colab" in sys.modules:
    from pathlib import Path

    if Path("coursekit.zip").exists():
        print("Installing the course''s helper package …")
        %pip install --quiet --no-deps ./coursekit.zip
    else:
        print("Upload coursekit.zip, which comes with this course, and run this cell again.")
        print("To upload it, click the folder on the left and drop the file there.")
elif find_spec("coursekit") is None:
    print("The course''s helper package is missing here. With coursekit.zip, which comes with this course, beside the notebook, run in a cell:")
    print(''%pip install ./coursekit.zip'')','e5039a7e59c1c2e8aa05b9b7f58734dd','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('f99d08c74f42444c9b2879717b5a46e2','imports','code',1,'check = print','f78b80e6d696b7ae86095e7cf6d3e47b','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('4a23f2abf1bc434896467b7391a80142','double-code','code',0,'def double(x):
    """Twice x."""
    raise NotImplementedError("Write your code here")','a7d4d9b1084e799b74a562f60dfda726','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('9a24443ce8a04050b1e845f91ad1d4e7','double','code',1,'check("double")','40deb243c0e57ee6a45433ad1289dc3e','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('2e30f8fef55d483d82842b8ad8d013a0','square-code','code',0,'def square(x):
    """x times x."""
    raise NotImplementedError("Write your code here")','c77bf85ccf3062c20291832edf61de44','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('b7b5bd1a113b4d5198ea132100fb1a2f','square','code',1,'check("square")','e47ca79fd040b39797295d6445b03cb6','68f36b9d00d44128b3e43d218e3b95b5');
INSERT INTO "source_cell" VALUES('78fb3f660c1c4e7faf71860f06d8ec33','why','markdown',0,'*Write your answer here.*','599b3c91bf18d910765c5572e39c353b','68f36b9d00d44128b3e43d218e3b95b5');
CREATE TABLE student (
	id VARCHAR(128) NOT NULL, 
	first_name VARCHAR(128), 
	last_name VARCHAR(128), 
	email VARCHAR(128), 
	lms_user_id VARCHAR(128), 
	PRIMARY KEY (id)
);
INSERT INTO "student" VALUES('ada',NULL,NULL,NULL,NULL);
INSERT INTO "student" VALUES('bo',NULL,NULL,NULL,NULL);
INSERT INTO "student" VALUES('cy',NULL,NULL,NULL,NULL);
CREATE TABLE submitted_assignment (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	student_id VARCHAR(128), 
	timestamp DATETIME, 
	extension DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, student_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(student_id) REFERENCES student (id)
);
INSERT INTO "submitted_assignment" VALUES('6c94300ffb3c4e3eb00205eed706cfc3','870c7bd5180646068d4e4a57b393c285','ada','2026-11-03 11:00:00.000000',NULL);
INSERT INTO "submitted_assignment" VALUES('aeedabbc1b844ca79cc02c7e44417714','870c7bd5180646068d4e4a57b393c285','bo','2026-11-03 11:00:00.000000','1970-01-02 00:00:00.000000');
CREATE TABLE submitted_notebook (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	notebook_id VARCHAR(32), 
	flagged BOOLEAN, 
	late_submission_penalty FLOAT, 
	PRIMARY KEY (id), 
	UNIQUE (notebook_id, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES submitted_assignment (id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "submitted_notebook" VALUES('80c121042ad141c2965d8ad40631aa06','6c94300ffb3c4e3eb00205eed706cfc3','68f36b9d00d44128b3e43d218e3b95b5',0,1.0);
INSERT INTO "submitted_notebook" VALUES('38104ef9f66f4922b7d1d1fe790451d5','aeedabbc1b844ca79cc02c7e44417714','68f36b9d00d44128b3e43d218e3b95b5',0,NULL);
CREATE TABLE task_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
CREATE INDEX ix_course_mark_change_student ON course_mark_change (student);
COMMIT;
