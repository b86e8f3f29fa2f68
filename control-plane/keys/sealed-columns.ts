/**
 * All that is sealed in tables, and what for: a value opens in its row and column alone. (What is
 * sealed in `facts` is for its name.)
 */
import type { SQLiteTable } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'

type Of<Table extends SQLiteTable, Names extends keyof Table['$inferSelect']> = Pick<
  Table['$inferSelect'],
  Names
>

export const PURPOSES = {
  clientSecret: ({ tenantId }: Of<typeof schema.tenants, 'tenantId'>) =>
    `tenants.client_secret:${tenantId}`,
  analyzerKey: ({ tenantId }: Of<typeof schema.tenants, 'tenantId'>) =>
    `tenants.analyzer_key:${tenantId}`,
  certificate: (row: Of<typeof schema.tenantCertificates, 'tenantId' | 'hostname'>) =>
    `tenant_certificates.private_key:${row.tenantId}:${row.hostname}`,
  acmeOrder: (row: Of<typeof schema.acmeOrders, 'tenantId' | 'hostname'>) =>
    `acme_orders.private_key:${row.tenantId}:${row.hostname}`,
  signingKey: ({ tenantId, kid }: Of<typeof schema.signingKeys, 'tenantId' | 'kid'>) =>
    `signing_keys.private_pem:${tenantId}:${kid}`,
  realmRecord: (row: Of<typeof schema.realmRecords, 'tenantId' | 'model' | 'idHash'>) =>
    `realm_records.payload:${row.tenantId}/${row.model}/${row.idHash}`,
  deviceChallenge: ({ cidHash }: Of<typeof schema.deviceChallenges, 'cidHash'>) =>
    `device_challenges.uid:${cidHash}`,
  factor: ({ tenantId, factorId }: Of<typeof schema.factors, 'tenantId' | 'factorId'>) =>
    `factors.secret:${tenantId}/${factorId}`,
  ticket: ({ ticketHash }: Of<typeof schema.accountTickets, 'ticketHash'>) =>
    `account_tickets.content:${ticketHash}`,
  mail: ({ mailId }: Of<typeof schema.mails, 'mailId'>) => `mails.content:${mailId}`,
  userDirectory: ({ tenantId }: Of<typeof schema.userDirectories, 'tenantId'>) =>
    `user_directories.password:${tenantId}`,
  webhook: ({ webhookId }: Of<typeof schema.webhooks, 'webhookId'>) =>
    `webhooks.secret:${webhookId}`,
  connection: (row: Of<typeof schema.connections, 'tenantId' | 'connectionId'>) =>
    `connections.client_secret:${row.tenantId}/${row.connectionId}`,
  keptForm: ({ userId, keptHash }: Of<typeof schema.consoleKeptForms, 'userId' | 'keptHash'>) =>
    `console_kept_forms.content:${userId}/${keptHash}`,
} as const

export interface SealedColumn {
  readonly table: SQLiteTable
  readonly column: string
  readonly purpose: (row: Readonly<Record<string, unknown>>) => string
}

function sealed<Table extends SQLiteTable>(
  table: Table,
  column: string & keyof Table['$inferSelect'],
  purpose: (row: Table['$inferSelect']) => string,
): SealedColumn {
  return { table, column, purpose }
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealed(schema.signingKeys, 'privatePemSealed', PURPOSES.signingKey),
  sealed(schema.tenantCertificates, 'privateKeySealed', PURPOSES.certificate),
  sealed(schema.acmeOrders, 'privateKeySealed', PURPOSES.acmeOrder),
  sealed(schema.tenants, 'clientSecretSealed', PURPOSES.clientSecret),
  sealed(schema.tenants, 'previousSecretSealed', PURPOSES.clientSecret),
  sealed(schema.tenants, 'analyzerKeySealed', PURPOSES.analyzerKey),
  sealed(schema.factors, 'secretSealed', PURPOSES.factor),
  sealed(schema.userDirectories, 'passwordSealed', PURPOSES.userDirectory),
  sealed(schema.webhooks, 'secretSealed', PURPOSES.webhook),
  sealed(schema.webhooks, 'previousSecretSealed', PURPOSES.webhook),
  sealed(schema.connections, 'clientSecretSealed', PURPOSES.connection),
  sealed(schema.accountTickets, 'contentSealed', PURPOSES.ticket),
  sealed(schema.mails, 'contentSealed', PURPOSES.mail),
  sealed(schema.consoleKeptForms, 'contentSealed', PURPOSES.keptForm),
  sealed(schema.deviceChallenges, 'uidSealed', PURPOSES.deviceChallenge),
  sealed(schema.realmRecords, 'payloadSealed', PURPOSES.realmRecord),
]
