/** Who is in a group by a connection, beside very many who are in it by another source. */
export const connectedMembers = {
  name: '0092-connected-members',
  statements: [
    `CREATE INDEX group_members_connected ON group_members (tenant_id, group_name, user_id)
      WHERE source = 'connection'`,
  ],
} as const
