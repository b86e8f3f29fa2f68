/** Whether the application has no route of its own where sign-ins start, come back and end. */
import { resultsOf } from '../../../../shared/integration/check-result.ts'
import { foundInCode } from './code-files.ts'
import type { LocalCheck } from './looked-at.ts'

const { fail, pass, warn } = resultsOf('callback_free')
const OWN = String.raw`service\/(?:login|callback|logout|me)`
/** A route is declared; a link or a redirect to one is quite right. */
const ROUTES: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:get|post|put|patch|delete|all|any|route|head|options|match|use|path|re_path|url|HandleFunc|Handle|Any|GET|POST|Map(?:Get|Post|Put|Delete|Methods)?)\(\s*[rf]?['"\x60]\^?\/?${OWN}\b`,
    'g',
  ),
  new RegExp(
    String.raw`[@[](?:Get|Post|Put|Patch|Delete|All|Request|Controller|Http\w+|Route|GetMapping|PostMapping|RequestMapping)\(\s*(?:(?:value|path)\s*=\s*)?['"]\/?${OWN}\b`,
    'g',
  ),
  new RegExp(String.raw`^\s*(?:get|post|put|patch|delete|match)\s+['"]\/?${OWN}\b`, 'gm'),
  new RegExp(String.raw`@\w+\.(?:route|get|post)\(\s*['"]\/?${OWN}\b`, 'g'),
]
const WHOLE =
  /\b(?:use|all|route|mount|prefix|Group|group|MapGroup)\(\s*['"`]\/?service(?:\/\*?)?['"`]|[@[](?:Controller|RequestMapping|Route)\(\s*['"]\/?service['"]/g
const FILE_ROUTE =
  /(?:^|\/)(?:pages|app)\/service\/(?:(?:login|callback|logout|me)(?:\/(?:page|route|index))?\.[jt]sx?|\[\[?\.\.\.)/

export const callbackFree: LocalCheck = async (at) => {
  const routed = at.project.files.find(({ path }) => FILE_ROUTE.test(path))
  if (routed !== undefined) return shadowed(routed.path)
  let whole: string | null = null
  for await (const { place, pattern } of foundInCode(at, [...ROUTES, WHOLE])) {
    if (pattern !== WHOLE) return shadowed(place)
    whole ??= place
  }
  if (whole === null)
    return pass('No route of the application uses /service/login, callback, logout or me.')
  return warn(
    `${whole} handles everything under /service, but login, callback, logout and me never reach it.`,
    'Move those routes to another prefix; other paths under /service do reach the application.',
  )
}

function shadowed(place: string) {
  return fail(
    `${place} has a route at a path reserved for the service.`,
    'Move that route: /service/login, /service/callback, /service/logout and /service/me are answered before the application.',
  )
}
