"""From solutions to what students get: labs, reference files, the students' repository; leak scan and release notes."""
