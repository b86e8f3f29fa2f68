/** Since when a fact is not true, whether it is false or unknown: days of grace are counted by it. */
export const unmetFacts = {
  name: '0047-unmet-facts',
  statements: [`ALTER TABLE device_postures ADD COLUMN unmet_since TEXT NOT NULL DEFAULT '{}'`],
} as const
