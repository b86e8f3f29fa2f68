/** The line that a person puts in, in a sentence. */
import type { FrameworkName } from '../detection/application.ts'
import { mountedFramework } from '../edits/mounted-frameworks.ts'
import { guardOf } from '../edits/wishes.ts'
import type { TenantFacts } from './looked-at.ts'

export function lineFor(
  tenant: Pick<TenantFacts, 'mode'>,
  framework: FrameworkName,
  receiver = 'app',
): string {
  const guard = guardOf(tenant)
  const mounted = mountedFramework(framework)
  if (mounted === undefined) return `createServer(${guard}().node(listener))`
  const line = `${receiver}.${mounted.method}(${guard}().${mounted.name}())`
  return mounted.method === 'register' ? `await ${line}` : line
}
