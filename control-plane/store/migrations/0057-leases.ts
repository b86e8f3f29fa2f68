/** Which control plane does what is done once for all of them, and until when it is theirs. */
export const leases = {
  name: '0057-leases',
  statements: [
    `CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      until_at BIGINT NOT NULL
    )`,
  ],
} as const
