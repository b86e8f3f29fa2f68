/** Of what was given up, what was not sent again yet is found by when it was given up. */
export const sentAgain = {
  name: '0028-sent-again',
  statements: [
    'ALTER TABLE webhook_deliveries ADD COLUMN is_sent_again BIGINT NOT NULL DEFAULT 0',
    `UPDATE webhook_deliveries SET is_sent_again = 1 WHERE delivery_id IN
      (SELECT replayed_from FROM webhook_deliveries WHERE replayed_from IS NOT NULL)`,
    'DROP INDEX webhook_deliveries_replayed',
    `CREATE INDEX webhook_deliveries_given_up
      ON webhook_deliveries (webhook_id, updated_at, delivery_id)
      WHERE state = 'failed' AND is_sent_again = 0`,
  ],
} as const
