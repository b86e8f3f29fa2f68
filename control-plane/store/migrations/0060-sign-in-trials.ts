/** The newest trial sign-in of each tenant, for the checklist of whichever control plane is asked. */
export const signInTrials = {
  name: '0060-sign-in-trials',
  statements: [
    `CREATE TABLE sign_in_trials (
      tenant_id TEXT PRIMARY KEY,
      at BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      checks TEXT NOT NULL
    )`,
  ],
} as const
