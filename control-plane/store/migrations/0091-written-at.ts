/** When a row was last written, by the clock of then: what is later than now was written by a clock that was ahead. */
export const writtenAt = {
  name: '0091-written-at',
  statements: [
    `ALTER TABLE mails ADD COLUMN written_at BIGINT NOT NULL DEFAULT 0`,
    `CREATE INDEX mails_written ON mails (written_at)`,
    `ALTER TABLE logout_notices ADD COLUMN written_at BIGINT NOT NULL DEFAULT 0`,
    `CREATE INDEX logout_notices_written ON logout_notices (written_at)`,
  ],
} as const
