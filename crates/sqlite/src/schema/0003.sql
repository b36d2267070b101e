-- Lists by time walk this one: within a bound, from its newest run down.
CREATE INDEX runs_by_creation ON runs (created_at, no);
-- Lists without children: a run may have hundreds of thousands of them.
CREATE INDEX runs_by_root ON runs (no) WHERE parent IS NULL;
