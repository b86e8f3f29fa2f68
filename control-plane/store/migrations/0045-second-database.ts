/** What SQLite has of its own, and Postgres is given. */
export const secondDatabase = {
  name: '0045-second-database',
  statements: [],
  postgres: [
    // in which order rows have come
    'ALTER TABLE realm_records ADD COLUMN rowid BIGINT GENERATED ALWAYS AS IDENTITY',
    `CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN strpos(whole COLLATE "C", part COLLATE "C")`,
    // each change leaves a row here for an hour, which tells that it has happened
    `CREATE TABLE changes (
      change_id TEXT PRIMARY KEY, at BIGINT NOT NULL, is_void BIGINT NOT NULL)`,
    'CREATE INDEX changes_at ON changes (at)',
  ],
}
