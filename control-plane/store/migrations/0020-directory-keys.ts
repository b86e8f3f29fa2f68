/**
 * People of a tenant's own database had the keys by which our own users are found, and so kept each
 * other out by names that only look alike to us. Theirs end in their id (`accounts/login-keys.ts`).
 */
export const directoryKeys = {
  name: '0020-directory-keys',
  statements: [
    `UPDATE users SET username_key = username_key || '\n' || user_id,
      email_key = email_key || '\n' || user_id WHERE source = 'directory'`,
  ],
} as const
