/** What there is to go to. An entry is shown once its page is in the table of routes. */
import type { Tenant } from '../tenants/tenants.ts'

const TENANT_ENTRIES = {
  start: { label: 'Start', path: '' },
  integration: { label: 'Integration', path: '/integration' },
  hostnames: { label: 'Hostnames', path: '/hostnames' },
  overview: { label: 'Overview', path: '/overview' },
  sessions: { label: 'Sessions', path: '/sessions' },
  users: { label: 'Users', path: '/users' },
  devices: { label: 'Devices', path: '/devices' },
  machines: { label: 'Machines', path: '/machines' },
  administrators: { label: 'Administrators', path: '/administrators' },
  policies: { label: 'Policies', path: '/policies' },
  rules: { label: 'Access rules', path: '/rules' },
  groups: { label: 'Groups', path: '/groups' },
  connections: { label: 'Connections', path: '/connections' },
  clients: { label: 'OIDC clients', path: '/clients' },
  provisioning: { label: 'Provisioning', path: '/provisioning' },
  branding: { label: 'Branding', path: '/branding' },
  webhooks: { label: 'Webhooks', path: '/webhooks' },
  alerts: { label: 'Alerts', path: '/alerts' },
  instances: { label: 'Instances', path: '/instances' },
  connectors: { label: 'Connectors', path: '/connectors' },
  directory: { label: 'User directory', path: '/directory' },
  events: { label: 'Events', path: '/events' },
  audit: { label: 'Audit', path: '/audit' },
  settings: { label: 'Settings', path: '/settings' },
  keys: { label: 'Keys', path: '/keys' },
} as const

/** Of a tenant, but not for its administrators. */
const FOR_OPERATORS: readonly string[] = ['settings', 'keys']

export const OPERATOR_ENTRIES = {
  tenants: { label: 'Tenants', path: '/console/tenants' },
  fleet: { label: 'Fleet', path: '/console/fleet' },
  people: { label: 'People', path: '/console/people' },
  figures: { label: 'Metrics', path: '/console/figures' },
  keysOfConsole: { label: 'Console keys', path: '/console/keys' },
  everything: { label: 'Audit', path: '/console/audit' },
} as const

type TenantEntry = keyof typeof TENANT_ENTRIES
export type NavigationEntry = TenantEntry | keyof typeof OPERATOR_ENTRIES | 'search'

export const TENANT_PATH = '/console/tenants/{tenant_id}'

/** `/console/tenants/acme`, or a page below it. */
export function tenantPath(tenantId: string, entry: TenantEntry = 'start'): string {
  return `/console/tenants/${tenantId}${TENANT_ENTRIES[entry].path}`
}

/** Who is let in to the pages of a tenant; for operators. */
export function administratorsPath(tenantId: string): string {
  return `${OPERATOR_ENTRIES.people.path}?tenant_id=${tenantId}`
}

export interface NavigationLink {
  readonly label: string
  readonly href: string
  readonly isHere: boolean
}

export function tenantLinks(
  { tenantId, mode }: Pick<Tenant, 'tenantId' | 'mode'>,
  here: NavigationEntry | undefined,
  paths: ReadonlySet<string>,
  isOperator: boolean,
): NavigationLink[] {
  return Object.entries(TENANT_ENTRIES)
    .filter(([, { path }]) => paths.has(TENANT_PATH + path))
    .filter(([name]) => isOperator || !FOR_OPERATORS.includes(name))
    .filter(([name]) => mode === 'connector' || name !== 'connectors' || name === here)
    .map(([name, { label, path }]) => ({
      label,
      href: `/console/tenants/${tenantId}${path}`,
      isHere: name === here,
    }))
}

export function operatorLinks(
  here: NavigationEntry | undefined,
  paths: ReadonlySet<string>,
): NavigationLink[] {
  return Object.entries(OPERATOR_ENTRIES)
    .filter(([, { path }]) => paths.has(path))
    .map(([name, { label, path }]) => ({ label, href: path, isHere: name === here }))
}
