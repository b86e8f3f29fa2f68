/** Which of GitHub's organizations a connection means: names are given to others. */
export const organizationId = {
  name: '0093-organization-id',
  statements: [`ALTER TABLE connections ADD COLUMN organization_id TEXT`],
} as const
