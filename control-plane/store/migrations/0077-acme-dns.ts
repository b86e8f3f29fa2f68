/** Certificates that are proven by DNS, and those that several hostnames have in common. */
export const acmeDns = {
  name: '0077-acme-dns',
  statements: [
    `ALTER TABLE acme_orders ADD COLUMN identifier TEXT`,
    `ALTER TABLE acme_orders ADD COLUMN dns_label TEXT`,
    `ALTER TABLE acme_orders ADD COLUMN dns_value TEXT`,
    `ALTER TABLE acme_orders ADD COLUMN follows TEXT`,
    `CREATE INDEX acme_orders_dns ON acme_orders (dns_value) WHERE dns_value IS NOT NULL`,
    `CREATE INDEX acme_orders_follows ON acme_orders (follows) WHERE follows IS NOT NULL`,
  ],
} as const
