/** A form that is sent twice has one answer; one that was changed in between is not the same form. */
export const formContent = {
  name: '0018-form-content',
  statements: ['ALTER TABLE console_forms ADD COLUMN content_hash TEXT'],
} as const
