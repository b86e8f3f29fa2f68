/** Whether sealed paths are paths of this application, and closed to who goes around the edge. */
import { resultsOf } from '../../../../shared/integration/check-result.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { askApplication, howToStart } from './asked-locally.ts'
import { codeFiles } from './code-files.ts'
import type { LocalCheck, LookedAt } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('sealed_paths')

export const sealedPaths: LocalCheck = async (at) => {
  const { tenant } = at.world
  if (tenant.sealed.length === 0) return skip('The tenant has no sealed paths.')
  const asked = tenant.sealed.slice(0, LIMITS.probedSealedMax)

  const open: string[] = []
  let isRunning = true
  for (const path of asked) {
    const answer = await askApplication(at, path)
    isRunning = answer !== null
    if (answer === null) break
    if (answer.status < 300) open.push(`${path} (${answer.status})`)
  }
  if (open.length > 0 && tenant.protection === 'on')
    return fail(
      `Requests that bypass the edge get an answer at: ${open.join(', ')}.`,
      'Mount the middleware before everything else, as service-analyzer apply does, and restart the application.',
    )
  const unknown = await unknownIn(at, asked)
  if (unknown.length > 0)
    return warn(
      `The code of this application does not mention ${unknown.join(', ')}: a typo, or a path built at run time?`,
      'Compare them with the routes of the application, and ask the operator to correct the sealed paths.',
    )
  if (!isRunning)
    return skip(
      `The code mentions every sealed path (${asked.length}), but the application is not running here, so they could not be tried.`,
      `Start the application (${howToStart(at)}) and run: service-analyzer verify`,
    )
  return pass(
    open.length === 0
      ? `No sealed path answers without claims (${asked.length} tried).`
      : `The code mentions every sealed path; until go-live they are open: ${open.join(', ')}.`,
  )
}

/** `/admin/users` may be mounted as `/admin` and `/users`: its first segment is looked for. */
async function unknownIn(at: LookedAt, paths: readonly string[]): Promise<string[]> {
  const missing = new Set(paths.filter((path) => path !== '/'))
  for await (const { path: file, text } of codeFiles(at)) {
    for (const path of missing) {
      const [, first = ''] = path.split('/')
      if (namesRoute(text, first) || file.split('/').includes(first)) missing.delete(path)
    }
    if (missing.size === 0) break
  }
  return [...missing]
}

function namesRoute(text: string, segment: string): boolean {
  for (let index = text.indexOf(segment); index !== -1; index = text.indexOf(segment, index + 1)) {
    const isStart = /[/'"`^:]/.test(text.charAt(index - 1))
    if (isStart && /[/'"`$?*:)\s]/.test(text.charAt(index + segment.length))) return true
  }
  return false
}
