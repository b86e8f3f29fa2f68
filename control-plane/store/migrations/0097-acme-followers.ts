/** Of very many hostnames with one certificate, those that have not looked at it for longest. */
export const acmeFollowers = {
  name: '0097-acme-followers',
  statements: [
    `DROP INDEX acme_orders_follows`,
    `CREATE INDEX acme_orders_follows ON acme_orders (follows, due_at) WHERE follows IS NOT NULL`,
  ],
} as const
