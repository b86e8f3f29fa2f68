/** What the device policy has demanded since when; of policies that stand: since they were saved. */
export const demanded = {
  name: '0049-demanded',
  statements: [`ALTER TABLE tenant_policies ADD COLUMN demanded TEXT NOT NULL DEFAULT '[]'`],
} as const
