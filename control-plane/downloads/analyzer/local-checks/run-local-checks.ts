/**
 * What can be seen of an integration where the project lies: read, never written, and none of its
 * code is run. The only requests go to the application on this machine and to the service.
 */
import { resultsOf, type CheckResult } from '../../../../shared/integration/check-result.ts'
import type { Application } from '../detection/application.ts'
import { isNode } from '../edits/notes.ts'
import type { Project } from '../project/project.ts'
import { callbackFree } from './callback-free.ts'
import { dependencyInstalled } from './dependency-installed.ts'
import { healthPath } from './health-path.ts'
import { keyInstalled } from './key-installed.ts'
import { listenersGuarded } from './listeners-guarded.ts'
import { nodeMount } from './node-mount.ts'
import { pastedMount } from './pasted-mount.ts'
import { proxyTrust } from './proxy-trust.ts'
import { sealedPaths } from './sealed-paths.ts'
import { secretNotCommitted } from './secret-not-committed.ts'
import { sessionCookieFree } from './session-cookie-free.ts'
import type { LocalCheck, LocalChecksWorld } from './looked-at.ts'
import { websocketsGuarded } from './websockets-guarded.ts'

/** In the order in which a person should put them right. */
const CHECKS: readonly (readonly [name: string, check: LocalCheck])[] = [
  ['dependency_installed', dependencyInstalled],
  ['middleware_mounted', (at) => (isNode(at.application) ? nodeMount(at) : pastedMount(at))],
  ['listeners_guarded', listenersGuarded],
  ['websockets_guarded', websocketsGuarded],
  ['key_installed', keyInstalled],
  ['secret_not_committed', secretNotCommitted],
  ['health_path', healthPath],
  ['sealed_paths', sealedPaths],
  ['callback_free', callbackFree],
  ['session_cookie_free', sessionCookieFree],
  ['proxy_trust', proxyTrust],
]

export async function runLocalChecks(
  project: Project,
  application: Application,
  world: LocalChecksWorld,
): Promise<CheckResult[]> {
  const at = { project, application, world }
  return Promise.all(CHECKS.map(([name, check]) => runOne(name, check, at)))
}

/** One that breaks takes no other along, and is no pass. */
async function runOne(name: string, check: LocalCheck, at: Parameters<LocalCheck>[0]) {
  try {
    return await check(at)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return resultsOf(name).fail(
      `This check could not run: ${reason}`,
      'Fix that and run: service-analyzer verify',
    )
  }
}
