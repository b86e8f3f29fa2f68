/**
 * Whether the line that mounts pasted code guards the whole application: the shape that the contract
 * shows does, and of every other it is not said. Each answers the rest of a sentence, or null.
 */
import type { FrameworkName } from '../detection/application.ts'
import { lineAt } from '../syntax/places.ts'

interface MountedLine {
  /** Without comments, and without what strings say. */
  readonly code: string
  readonly index: number
  readonly text: string
}

/** The rest of a sentence; `isSure`: something is open, whatever else the code says. */
export interface Problem {
  readonly text: string
  readonly isSure: boolean
}

type Whole = (mounted: MountedLine) => Problem | null

const maybe = (text: string): Problem => ({ text, isSure: false })
const surely = (text: string): Problem => ({ text, isSure: true })

const WHOLE: Partial<Readonly<Record<FrameworkName, Whole>>> = {
  flask: (mounted) => {
    const name = /@?(\w+)\.before_request/.exec(mounted.text)?.[1] ?? receiverOf(mounted)
    return (
      notMade(mounted, name, String.raw`(?:\w+\.)?Flask\(`) ??
      behind(mounted, name, String.raw`before_request\b`)
    )
  },
  fastapi: (mounted) => {
    const name = receiverOf(mounted)
    return (
      notMade(mounted, name, String.raw`(?:\w+\.)?(?:FastAPI|Starlette)\(`) ??
      mountedIn(mounted, name)
    )
  },
  aspnet: (mounted) => {
    const name = receiverOf(mounted)
    const isHandedIn =
      name !== null &&
      new RegExp(String.raw`\bConfigure\(\s*IApplicationBuilder\s+${name}\b`).test(mounted.code)
    const isLambda =
      name !== null &&
      new RegExp(String.raw`\b${name}\s*\)?\s*=>`).test(mounted.code.slice(0, mounted.index))
    if (isLambda) return branch(name)
    return (
      (isHandedIn ? null : notMade(mounted, name, String.raw`[\w.]+\.Build\(\)`)) ??
      behind(mounted, name, ANSWERING)
    )
  },
  laravel: ({ text }) =>
    /->prepend\(/.test(text) && !/->prepend\(\s*\[?\s*\\?[\w\\]*ServiceClaims/.test(text)
      ? maybe('mounts it after another one, which runs first.')
      : null,
  spring: ({ code }) => {
    const narrower = /\b(?:shouldNotFilter|addUrlPatterns|setUrlPatterns|urlPatterns)\b/.exec(code)
    if (narrower === null) return null
    return maybe(
      `mounts it, and line ${lineAt(code, narrower.index)} excludes paths, which are not protected.`,
    )
  },
  go: goWhole,
}

export function notWhole(framework: FrameworkName, mounted: MountedLine): Problem | null {
  return WHOLE[framework]?.(mounted) ?? null
}

const ANSWERING = String.raw`(?:Map\w*|Run|Use|UseWhen|UseStaticFiles|UseFileServer|UseEndpoints|UseDefaultFiles|UseSpa\w*|UseSwagger\w*|UseHealthChecks)\b`
const ROUTING = String.raw`(?:Use|Pre|Get|Post|Put|Patch|Delete|GET|POST|PUT|PATCH|DELETE|Any|Add|Handle|HandleFunc|Mount|Route|Group|Static\w*|File)\(`

/** The name in front of `.Use(…)`. */
function receiverOf({ code, index, text }: MountedLine): string | null {
  const before = code.slice(0, index) + (/^\s*\.?/.exec(text)?.[0] ?? '')
  return /(\w+)\s*\.?\s*$/.exec(before)?.[1] ?? null
}

const branch = (name: string) =>
  surely(
    `mounts it on ${name}, which is only a branch of the application; everything else stays open.`,
  )

const PART = String.raw`[\w.]*(?:Blueprint|APIRouter|Group|PathPrefix|MapGroup|Route|With)\(`

function notMade({ code }: MountedLine, name: string | null, made: string): Problem | null {
  if (name === null) return maybe('mounts it on something that may not be the whole application.')
  if (new RegExp(String.raw`\b${name}\b[^=\n;]*=\s*${PART}`).test(code))
    return surely(
      `mounts it on ${name}, which is only a part of the application; everything else stays open.`,
    )
  const isMade = new RegExp(String.raw`\b${name}\b[^=\n;]*=\s*${made}`).test(code)
  return isMade
    ? null
    : maybe(
        `mounts it on ${name}, which this file does not create as an application; if it is only a part, everything else stays open.`,
      )
}

/** `app.mount('/api', api)`: an application in another, which is then the whole. */
function mountedIn({ code }: MountedLine, name: string | null): Problem | null {
  const given = new RegExp(
    String.raw`\b(\w+)\.mount\(\s*[^(),]*,\s*(?:app\s*=\s*)?${name ?? ''}\s*[,)]`,
  )
  const around = given.exec(code)
  if (around === null) return null
  return surely(
    `mounts it on ${name ?? ''}, which line ${lineAt(code, around.index)} puts into ${around[1] ?? 'another'}; everything else stays open.`,
  )
}

function behind({ code, index }: MountedLine, name: string | null, others: string): Problem | null {
  const earlier = new RegExp(String.raw`\b${name ?? ''}\.${others}`).exec(code.slice(0, index))
  return (
    earlier && maybe(`mounts it behind line ${lineAt(code, earlier.index)}, which answers first.`)
  )
}

const LISTENS = /\bhttp\.(?:ListenAndServe|Serve)(?:TLS)?\(([^\n]*)|\bHandler:\s*([^\n]*)/g
const IS_ROUTER = String.raw`(?:gin|chi|echo|mux|fiber)\.(?:New|Default|NewRouter|NewMux)\(`

/** `http.Handle("/admin", ServiceClaims(admin))` */
const ONE_HANDLER = /\.(?:Handle|HandleFunc|Handler|Get|GET|Post|POST|Any|Method|Mount)\(\s*"/

/** `http.ListenAndServe(address, ServiceClaims(router))`, `router.Use(ServiceClaims)`. */
function goWhole(mounted: MountedLine): Problem | null {
  const { code, index } = mounted
  const line = code.slice(code.lastIndexOf('\n', index - 1) + 1, lineEnd(code, index))
  const router = /(\w+)\.(?:Use|Pre)\(/.exec(line)?.[1]
  if (router !== undefined) {
    const problem = notMade(mounted, router, IS_ROUTER)
    return problem ?? behind({ ...mounted, index: code.lastIndexOf('\n', index) + 1 }, router, ROUTING) ?? otherListener(code, router) // prettier-ignore
  }
  if (/\b(?:ListenAndServe|Serve)(?:TLS)?\(|\bHandler:/.test(line)) return otherListener(code, null)
  const handler = /^\s*(?:var\s+)?(\w+)\b[^=\n(]*=\s*(?:\w+\.)?ServiceClaims\(/.exec(line)?.[1]
  const isServed = [...code.matchAll(LISTENS)].some(([all]) => handler && names(all, handler))
  return isServed
    ? otherListener(code, handler ?? null)
    : (ONE_HANDLER.test(line) ? surely : maybe)(
        'wraps a handler that is not the one of the server; all others stay open.',
      )
}

/** A second server of the same file. */
function otherListener(code: string, guarded: string | null): Problem | null {
  for (const { 0: all, index } of code.matchAll(LISTENS))
    if (!/\bServiceClaims\(/.test(all) && !(guarded !== null && names(all, guarded)))
      return maybe(`mounts it, but the server in line ${lineAt(code, index)} is not behind it.`)
  return null
}

const names = (text: string, name: string) => new RegExp(String.raw`\b${name}\b`).test(text)

function lineEnd(code: string, index: number): number {
  const end = code.indexOf('\n', index)
  return end === -1 ? code.length : end
}
