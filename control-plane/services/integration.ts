/** How an application is brought behind the service: checks of it, and guides that are written for it. */
import { createAnalysis } from '../analysis/analysis.ts'
import { createBudgets } from '../analysis/budgets.ts'
import { createGuides } from '../analysis/guides.ts'
import { createProvider } from '../analysis/provider-client.ts'
import { createIntegration } from '../verification/integration.ts'
import { createProbeClient } from '../verification/probe-client.ts'
import { createSelfReports } from '../verification/self-reports.ts'
import { createVerification } from '../verification/verification.ts'
import type { ConnectorServices } from './connectors.ts'
import type { EnforcementServices } from './enforcement.ts'
import type { Jobs } from './jobs.ts'
import type { PeopleServices } from './people.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

export function createIntegrations(
  world: ServicesWorld,
  {
    store,
    tenants,
    keys,
    instances,
    connectors,
    trialPeople: people,
  }: TenantServices & PeopleServices & EnforcementServices & Pick<ConnectorServices, 'connectors'>,
  jobs: Jobs,
) {
  const { baseUrl, edgeUrlFor, clock, log, aiWorld, ai: settings = null } = world
  const client = createProbeClient({ nowMs: () => clock.nowMs() })
  const checked = { store, tenants, instances, clock, baseUrl, edgeUrlFor }
  const guides = createGuides({ store })
  const budgets = jobs.tidied('analyses', createBudgets({ store, clock }))
  const ai = settings === null ? null : { settings, provider: createProvider(settings, aiWorld) }
  return {
    verification: createVerification({ ...checked, keys, connectors, client }),
    integration: createIntegration({ ...checked, people, log }),
    selfReports: createSelfReports({ store }),
    guides,
    budgets,
    analysis: createAnalysis({ store, guides, budgets, ai, baseUrl, log }),
  }
}
