/** Figures of the whole service, and what the console's lists of events are filtered by. */
export const consoleFigures = {
  name: '0010-console-figures',
  statements: [
    `CREATE TABLE service_figures (
      step TEXT NOT NULL, at BIGINT NOT NULL, source TEXT NOT NULL, outcome TEXT NOT NULL,
      reason TEXT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (step, at, source, outcome, reason))`,
    `INSERT INTO service_figures
      SELECT step, at, source, outcome, reason, sum(count) FROM figures
      WHERE tenant_id <> 'console' GROUP BY step, at, source, outcome, reason`,
    // hours that have not become part of their day yet: of the service, days hold them at once
    `INSERT INTO service_figures
      SELECT 'day', at - at % 86400000, source, outcome, reason, sum(count) FROM service_figures
      WHERE step = 'hour' GROUP BY at - at % 86400000, source, outcome, reason
      ON CONFLICT (step, at, source, outcome, reason)
      DO UPDATE SET count = service_figures.count + excluded.count`,
    `CREATE TABLE tenant_refusals (
      tenant_id TEXT NOT NULL, step TEXT NOT NULL, at BIGINT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, step, at))`,
    `CREATE INDEX tenant_refusals_most ON tenant_refusals (step, at, count)`,
    `CREATE INDEX enforcement_events_outcome ON enforcement_events (tenant_id, outcome, sequence)`,
    `CREATE INDEX enforcement_events_subject ON enforcement_events (tenant_id, subject, sequence)`,
    `CREATE INDEX enforcement_events_ip ON enforcement_events (tenant_id, ip, sequence)`,
    `CREATE INDEX outbox_event ON outbox (tenant_id, event, sequence)`,
    `CREATE INDEX sign_ins_outcome ON sign_ins (tenant_id, outcome, at)`,
  ],
} as const
