/** Gateways beside the control plane, which a revocation after its restart has to name as well. */
export const keylessGateways = {
  name: '0061-keyless-gateways',
  statements: [
    'CREATE TABLE keyless_gateways (gateway_id TEXT PRIMARY KEY, seen_at BIGINT NOT NULL)',
  ],
} as const
