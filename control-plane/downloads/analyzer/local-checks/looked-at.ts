/** What every local check looks at, and what it is told from outside. */
import type { CheckResult } from '../../../../shared/integration/check-result.ts'
import type { Application } from '../detection/application.ts'
import type { Git } from '../journal/git.ts'
import type { Project } from '../project/project.ts'

/** What the service tells whoever has the analyzer key: `GET /api/v1/integration`. */
export interface TenantFacts {
  readonly tenantId: string
  readonly mode: 'gateway' | 'connector' | 'sdk'
  readonly protection: 'on' | 'pass-through'
  readonly health: string
  readonly sealed: readonly string[]
}

export interface LocalChecksWorld {
  /** Of the service, without a slash at its end. */
  readonly baseUrl: string
  /** null: no key, or the service cannot be reached; what needs it is skipped. */
  readonly tenant: TenantFacts | null
  /** Values that must not be found in tracked files: the analyzer key. They are shown nowhere. */
  readonly secrets: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where the application listens now, if that was told; else as detection says. */
  readonly port: number | null
  readonly fetch: typeof fetch
  readonly git: Pick<Git, 'ask'>
}

export interface LookedAt {
  readonly project: Project
  readonly application: Application
  readonly world: LocalChecksWorld
}

export type LocalCheck = (at: LookedAt) => Promise<CheckResult>

/** The package whose code makes the application: in a monorepo that may be another one. */
export function packageFolder({ project, application }: LookedAt): string {
  const { mount, folder } = application
  const start = folder === '' ? '' : `${folder}/`
  if (mount === null || mount.path.startsWith(start)) return folder
  const segments = mount.path.split('/').slice(0, -1)
  for (let length = segments.length; length > 0; length--) {
    const above = segments.slice(0, length).join('/')
    if (project.has(`${above}/package.json`)) return above
  }
  return ''
}

/** Without the service's word, what most tenants are. */
export const modeOf = ({ tenant }: LocalChecksWorld) => tenant?.mode ?? 'gateway'
