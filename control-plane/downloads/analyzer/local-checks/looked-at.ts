/** What every local check looks at, and what it is told from outside. */
import type { CheckResult } from '../../../../shared/integration/check-result.ts'
import type { Facts } from '../api.ts'
import type { Application } from '../detection/application.ts'
import { folderOf, isUnder, under, upwards } from '../detection/folders.ts'
import type { Git } from '../journal/git.ts'
import type { Project } from '../project/project.ts'

export type TenantFacts = Pick<Facts, 'tenant_id' | 'mode' | 'protection' | 'health' | 'sealed'>

export interface LocalChecksWorld {
  /** Of the service, without a slash at its end. */
  readonly baseUrl: string
  readonly tenant: TenantFacts
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
  if (mount === null || isUnder(folder, mount.path)) return folder
  const above = upwards(folderOf(mount.path))
  return above.find((at) => project.has(under(at, 'package.json'))) ?? ''
}
