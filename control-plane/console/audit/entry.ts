/** One entry of the audit trail in words, and as a diff. Pure. */
import { LIMITS } from '../../../shared/limits.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { fromTo, type Difference } from '../blocks/diff.ts'
import { inPolicyWords } from '../tenant/policies/policy-words.ts'

const ACTIONS: Readonly<Record<string, string>> = {
  'tenant.created': 'Created the tenant',
  'tenant.changed': 'Changed settings',
  'tenant.published': 'Published the tenant',
  'tenant.suspended': 'Suspended the tenant',
  'tenant.activated': 'Reactivated the tenant',
  'tenant.removed': 'Deleted the tenant',
  'protection.on': 'Turned protection on',
  'protection.off': 'Turned protection off',
  'plan.changed': 'Changed the plan',
  'licence.changed': 'Changed the license',
  'sessions.revoked': 'Ended sessions',
  'user.created': 'Created a user',
  'user.changed': 'Changed a user',
  'user.removed': 'Deleted a user',
  'analyzer_key.rotated': 'Rotated the analyzer key',
  'analyzer_key.shown': 'Viewed the analyzer key',
  'analyzer_key.allowed': 'Allowed a command-line tool to sign in',
  'analyzer_key.handed_out': 'Gave the analyzer key to a command-line tool',
  'device_code.denied': 'Denied a command-line tool',
  'client_secret.shown': 'Viewed the client secret',
  'client_secret.rotated': 'Rotated the client secret',
  'factor.added': 'Added a second factor',
  'users.exported': 'Exported users',
  'devices.exported': 'Exported devices',
  'audit.exported': 'Exported the audit trail',
  'keys.rotated': 'Rotated signing keys',
  'user.invited': 'Sent an invitation',
  'user.unlocked': 'Unlocked an account',
  'factor.removed': 'Removed a second factor',
  'factors.reset': 'Reset second factors',
  'console.signed_in': 'Signed in to the console',
  'console.account_locked': 'Account locked',
  'console.role_given': 'Granted console access',
  'console.role_changed': 'Changed a role',
  'console.role_taken': 'Removed console access',
  'console.invited': 'Invited a person',
  'console.invitation_withdrawn': 'Withdrew an invitation',
  'address_block.lifted': 'Unblocked an address',
  'alert.created': 'Created an alert',
  'alert.changed': 'Changed an alert',
  'alert.removed': 'Deleted an alert',
  'alert_recipient.confirmed': 'Confirmed alert emails',
  'alert_recipient.stopped': 'Unsubscribed from alert emails',
  'analysis.run': 'Ran an analysis',
  'certificate.issued': 'Issued a certificate',
  'certificate.put': 'Uploaded a certificate',
  'certificate.removed': 'Deleted a certificate',
  'certificate.wanted': 'Ordered a certificate',
  'hostname.claimed': 'Added a hostname, to be proven',
  'hostname.proven': 'Proved a hostname',
  'hostname.withdrawn': 'Withdrew a hostname',
  'hostname.removed': 'Removed a hostname',
  'hostname.unproven': 'The record that proved a hostname is missing',
  'hostname.stopped': 'Stopped serving a hostname without a record',
  'connector_token.created': 'Created a join token for connectors',
  'connector_token.deleted': 'Deleted a join token for connectors',
  'connector.joined': 'A connector joined',
  'connector.key_added': 'A connector added its next key',
  'connector.key_replaced': 'A connector replaced its key',
  'connector.left': 'A connector left',
  'connector.revoked': 'Revoked a connector',
  'service.created': 'Added a machine',
  'service.changed': 'Changed a machine',
  'service.secret_created': 'Created a secret of a machine',
  'service.key_added': 'Added a key of a machine',
  'service.secret_ended': 'A secret or key of a machine expired',
  'service.secret_revoked': 'Revoked a secret of a machine',
  'service.deleted': 'Deleted a machine',
  'connection.created': 'Created a connection',
  'connection.changed': 'Changed a connection',
  'connection.tested': 'Tested a connection',
  'connection.activated': 'Activated a connection',
  'connection.deactivated': 'Deactivated a connection',
  'connection.removed': 'Deleted a connection',
  'domain.added': 'Added an email domain',
  'domain.proven': 'Proved an email domain',
  'domain.unproven': 'TXT record of an email domain is missing',
  'domain.lapsed': 'Stopped using an email domain without its record',
  'domain.removed': 'Removed an email domain',
  'connection.metadata_changed': 'Took new metadata of a connection',
  'connection.metadata_failed': 'Could not read the metadata of a connection',
  'user.connected': 'Connected an account with an identity provider',
  'user.disconnected': 'Disconnected an account from an identity provider',
  'scim_token.created': 'Created a provisioning token',
  'scim_token.deleted': 'Revoked a provisioning token',
  'user.attributes_changed': 'Changed attributes of a user',
  'user.handed_over': 'Handed a user over to the provider',
  'scim.user_changed': 'Changed details of a provisioned user',
  'scim.group_changed': 'Changed a provisioned group',
  'group.member_skipped': 'Skipped unknown members of a group',
  'device_ticket.created': 'Created a device ticket',
  'device_ticket.deleted': 'Deleted a device ticket',
  'device_challenge_keys.rotated': 'Rotated the key that device agents trust',
  'connector_authority.prepared': 'Announced the next key that connectors trust',
  'connector_authority.promoted': 'Rotated the key that connectors trust',
  'device.enrolled': 'A device enrolled',
  'device.suspected': 'A device may have been copied',
  'device.left': 'A device left',
  'device.approved': 'Approved a device',
  'device.unapproved': 'Withdrew the approval of a device',
  'device.cleared': 'Cleared a possible copy',
  'device.owner_changed': 'Changed the owner of a device',
  'device.revoked': 'Revoked a device',
  'device.removed': 'Removed a device',
  'device.break_glass_used': 'Signed in without a device check (emergency access)',
  'device.proof.typed_code': 'Checked a device with a typed code',
  'device.proof.foreign_browser': 'A device check came from another browser',
  'device.forgotten': 'Removed a known browser',
  'email.change_asked': 'Requested an email change',
  'user.not_notified': 'Did not email a user about a change (too many emails)',
  'integration.checked': 'Ran the integration checks',
  'password.break_glass_used': 'Signed in with a password (emergency access)',
  'password.forgotten': 'Requested a password reset',
  'recovery_codes.renewed': 'Created new recovery codes',
  'sign_in.mailed': 'Requested a sign-in by email',
  'sign_up.mailed': 'Asked for an account (email sent)',
  'sign_up.requested': 'Requested an account',
  'sign_up.refused': 'Refused an account request',
  'sign_up.expired': 'An account request expired',
  'sign_up.closed': 'Discarded account requests (sign-up closed)',
  'user_directory.set': 'Connected a user directory',
  'user_directory.removed': 'Disconnected the user directory',
  'verification.self_reported': 'Reported a verification',
  'webhook.created': 'Created a webhook',
  'webhook.changed': 'Changed a webhook',
  'webhook.removed': 'Deleted a webhook',
  'webhook.paused': 'Paused a webhook',
  'webhook.dropping': 'Dropped webhook events',
  'webhook.replayed': 'Retried failed deliveries',
  'policy.network.changed': 'Changed the network policy',
  'policy.lockout.changed': 'Changed the lockout policy',
  'policy.password.changed': 'Changed the password policy',
  'policy.device.changed': 'Changed the device policy',
  'policy.mfa.changed': 'Changed the second factor policy',
  'policy.session.changed': 'Changed the session policy',
  'console.operator_link_made': 'Created a sign-in link for an operator',
}

/** What a search can choose from. */
export const ACTION_NAMES: readonly string[] = Object.keys(ACTIONS)

/** What is not known says what it is by its name. */
export function actionText(action: string): string {
  return ACTIONS[action] ?? sentence(action)
}

const sentence = (action: string) => {
  const words = action.replaceAll(/[._]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Enough to tell one account from another. */
export const shortId = (id: string) => `${id.slice(0, 12)}…`

/** Who did it: a person of the console, or which key. */
export function actorText(actor: string): string {
  if (actor.startsWith('console:')) return actor.slice('console:'.length)
  if (actor === 'operator') return 'the operator key'
  if (actor === 'realm') return 'Sign-in pages'
  if (actor === 'lockout') return 'the lockout policy'
  if (actor.startsWith('analyzer:')) return 'the analyzer key'
  if (actor.startsWith('client:')) return 'the application'
  if (actor.startsWith('device:')) return `the device ${actor.slice('device:'.length)}`
  if (actor.startsWith('connector:')) return `the connector ${actor.slice('connector:'.length)}`
  if (actor.startsWith('scim:')) return `the provisioning token ${actor.slice('scim:'.length)}`
  // a person of a realm, about themselves
  if (actor.startsWith('usr_')) return `user ${shortId(actor)}`
  return actor
}

type Content = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function differencesOf({ action, content }: Pick<AuditRow, 'action' | 'content'>) {
  const [, policy] = /^policy\.(\w+)\.changed$/.exec(action) ?? []
  const changed = changedIn(content)
  return policy === undefined ? changed : inPolicyWords(policy, changed)
}

function changedIn(content: Content): Difference[] {
  const { from, to, was, settings, changed, user_id: userId, metric } = content
  const listed = listDifferences(content['lists'])
  if (isRecord(from) && isRecord(to))
    return [
      ...(userId === undefined ? [] : [{ name: 'user_id', about: userId }]),
      ...(metric === undefined ? [] : [{ name: 'metric', about: metric }]),
      ...fromTo(from, to),
      ...listed,
      ...(Array.isArray(changed) && changed.includes('password')
        ? [{ name: 'password', about: 'changed' }]
        : []),
    ]
  if (isRecord(was) && isRecord(settings)) return [...fromTo(was, settings), ...listed]
  const { plan } = content
  if (typeof plan === 'string' && typeof was === 'string')
    return [{ name: 'plan', from: was, to: plan }]
  return Object.entries(content)
    .filter(([name]) => name !== 'changed' || !isRecord(content['settings']))
    .map(([name, value]) => ({ name, about: value }))
}

/** Of which a few are told, and how many there were. */
function listDifferences(lists: unknown): Difference[] {
  if (!isRecord(lists)) return []
  return Object.entries(lists).map(([name, told]) => {
    const change = isRecord(told) ? told : {}
    const few = (items: unknown, count: unknown): unknown => {
      if (!Array.isArray(items) || items.length === 0) return undefined
      const shown: unknown[] = items.slice(0, LIMITS.listEntriesToldMax)
      const more = Number(count) - shown.length
      return more > 0 ? [...shown, `and ${more} more`] : shown
    }
    const isOnlyOrder = change['removed_count'] === 0 && change['added_count'] === 0
    return {
      name,
      about: isOnlyOrder ? 'order changed' : undefined,
      from: few(change['removed'], change['removed_count']),
      to: few(change['added'], change['added_count']),
    }
  })
}
