-- Sessions: work packets, the figures of a session, and which of them have files.

-- Workflows whose settings ask for session files. A row is made with the workflow's own, so that no kill
-- comes between; it is written once both files have everything.
create table session (
    workflow integer primary key,
    -- Where the files are and what they are called, without endings; null until they are begun.
    folder text,
    name text,
    is_written integer not null default 0
);

create index session_to_write on session (workflow) where not is_written;
