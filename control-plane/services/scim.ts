/** People and groups that a tenant's own provider pushes. */
import { SECOND_MS } from '../../shared/clock.ts'
import type { AccountMail } from '../accounts/account-mail.ts'
import { createScimGroups } from '../scim/groups.ts'
import { createScimPeople } from '../scim/people.ts'
import { createScimRequestLog } from '../scim/request-log.ts'
import { createScimTokens } from '../scim/tokens.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

const LOG_EVERY_MS = 2 * SECOND_MS
/** Nobody is asked which one somebody reads whom a provider has made. */
const LANGUAGE = 'en'

export function createScimServices(
  { clock }: Pick<ServicesWorld, 'clock'>,
  {
    store,
    vault,
    accountMail,
  }: Pick<TenantServices, 'store' | 'vault'> & {
    readonly accountMail: Pick<AccountMail, 'tellChangedByOther'>
  },
  jobs: Jobs,
) {
  const scimLog = jobs.tidied('scimLog', createScimRequestLog({ store }))
  jobs.follows(
    jobs.timed('scimLogWrite', () => scimLog.flush()),
    'what was asked by SCIM could not be written down',
    LOG_EVERY_MS,
  )
  return {
    scimTokens: jobs.tidied('scimTokens', createScimTokens({ store, vault, clock })),
    scimPeople: createScimPeople({
      store,
      tellChanged: (change, before, after) =>
        accountMail.tellChangedByOther(change, before, after, LANGUAGE),
    }),
    scimGroups: createScimGroups({ store, clock }),
    scimLog,
  }
}
