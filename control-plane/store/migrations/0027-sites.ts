/** Whoever has a /48 of IPv6 has 65,536 networks: what fails there is counted together as well. */
export const sites = {
  name: '0027-sites',
  statements: [
    'ALTER TABLE sign_ins ADD COLUMN site TEXT',
    `CREATE INDEX sign_ins_site ON sign_ins (tenant_id, site, at)
      WHERE is_failure = 1 AND site IS NOT NULL`,
  ],
} as const
