/** One source file with the middleware mounted on every application that it makes; or why not. */
import type { KnownService } from '../../../../shared/integration/snippets/defaults.ts'
import type { Node } from '@babel/types'
import { parseSource, type PackageType, type Source } from '../syntax/parse.ts'
import { endOf, lineOf } from '../syntax/places.ts'
import type { Change, Insertion } from './changes.ts'
import { freeNames, type FreeNames } from './free-names.ts'
import { importCode, importPlace, moduleFormOf, PACKAGE } from './import-line.ts'
import { applicationsIn, contains, type MadeApplication, type Making } from './made-applications.ts'
import { importsPackage, isMountedInChain, isMountedOn } from './mounted-already.ts'
import { guardCall, serviceLines } from './guard-call.ts'
import { linesBehind, mountLine } from './mount-lines.ts'
import type { MountedFramework } from './mounted-frameworks.ts'
import { applied } from './same-tree.ts'
import { styleOf, type Style } from './style.ts'
import { isPartOfAnother } from './sub-applications.ts'
import { serves, upgradeChanges } from './upgrade-listeners.ts'
import { guardOf, type Wishes } from './wishes.ts'

export interface MountWish {
  readonly framework: MountedFramework
  readonly mode: Wishes['mode']
  readonly service: KnownService
  readonly packageType: PackageType
  /** `await` at the top of a file is one, and not a word of another module system. */
  readonly hasTopLevelAwait: boolean
}

export type Mounting =
  | { readonly kind: 'there already' }
  | { readonly kind: 'edit'; readonly after: string; readonly shown: readonly Shown[] }
  | { readonly kind: 'manual'; readonly shown: readonly Shown[] }

interface Shown {
  /** null: where it is said to be. */
  readonly line: number | null
  readonly receiver: string
  readonly problem: string
}

/** Without a name of its own, the middleware is a link of the chain: `express().use(…)`. */
type Mountable = MadeApplication | { readonly call: Node }

export function mountInSource(source: Source, wish: MountWish): Mounting {
  const open = openIn(source, wish)
  if (open === null) return manual({ line: null, receiver: 'app', problem: NOT_FOUND })
  if (open.length === 0) return { kind: 'there already' }
  const shown = open.flatMap((making) =>
    'problem' in making
      ? [{ line: lineOf(source, making.call), receiver: 'app', problem: making.problem }]
      : [],
  )
  const made = open.flatMap((making): Mountable[] =>
    'made' in making ? [making.made] : 'problem' in making ? [] : [making],
  )
  if (made.length === 0) return { kind: 'manual', shown }
  const everyOne = (problem: string) =>
    manual(
      ...shown,
      ...made.map((one) => {
        const receiver = 'receiver' in one ? one.receiver : 'app'
        return { line: lineOf(source, one.call), receiver, problem }
      }),
    )
  if (importsPackage(source))
    return everyOne('this file already uses service-node in a different way')
  if (wish.mode === 'sdk' && made.length > 1 && !shareOneBlock(source, made))
    return everyOne(
      'this file creates more than one application, but enforce() must be called once per process',
    )
  const names = freeNames(source, guardOf(wish))
  if (names === null) return everyOne('all suitable variable names are in use')

  const changes = changesFor(source, wish, made, names)
  if ('problem' in changes) return everyOne(changes.problem)
  const after = applied(source, changes.list, wish.packageType)
  if ('problem' in after) return everyOne(after.problem)
  // what was written has to be found again by what looks for it
  const parsed = parseSource(source.path, after.text, wish.packageType)
  const left =
    'problem' in parsed ? null : openIn({ ...parsed.source, services: source.services }, wish)
  if (left === null || left.length > shown.length) return everyOne('the lines would not work here')
  return { kind: 'edit', after: after.text, shown }
}

/** What is made in a file and not mounted yet; null: nothing is made. */
function openIn(source: Source, { framework }: MountWish): Making[] | null {
  const all = applicationsIn(source, framework)
  const makings = all.filter(({ call }) => !isPartOfAnother(source, call, all))
  if (makings.length === 0) return null
  return makings.filter((making) => {
    if (isMountedInChain(source, making.call)) return false
    return !('made' in making) || !isMountedOn(source, making.made)
  })
}

const NOT_FOUND = 'no known way of creating an application was found here'

function manual(...shown: readonly Shown[]): Mounting {
  return { kind: 'manual', shown }
}

type Changes = { readonly list: readonly Change[] } | { readonly problem: string }

function changesFor(
  source: Source,
  wish: MountWish,
  made: readonly Mountable[],
  names: FreeNames,
): Changes {
  const style = styleOf(source)
  const { framework, hasTopLevelAwait } = wish
  const guard = guardOf(wish)
  const code = importCode(moduleFormOf(source), style, { guard, local: names.guard })
  const list: Change[] = []
  const declared: MadeApplication[] = []
  const addImport = (user: Node) => {
    const place = importPlace(source, style, code, user)
    if (typeof place === 'object' && 'at' in place && !list.some((one) => isSame(one, place)))
      list.push(place)
    return place
  }
  for (const one of [...made].sort((a, b) => endOf(a.call) - endOf(b.call))) {
    if (!('block' in one)) {
      const place = addImport(one.call)
      if (typeof place === 'object' && 'problem' in place) return place
      const isAtHand = place !== 'where it is used'
      const required = `require(${style.quote}${PACKAGE}${style.quote}).${guard}`
      list.push(link(wish, style, one.call, isAtHand ? names.guard : required))
      continue
    }
    const isDeclared = declared.some(
      (other) => contains(other.block, one.block) && other.behindEnd < one.behindEnd,
    )
    const lines = isDeclared ? [] : serviceLines(style, names, wish.service)
    if (!isDeclared) {
      const place = addImport(one.behind)
      if (place === 'where it is used') lines.unshift(code)
      else if ('problem' in place) return place
      declared.push(one)
    }
    lines.push(mountLine(source, style, framework, hasTopLevelAwait, one, names))
    const added = linesBehind(source, style, one, lines)
    if (added === null) return { problem: 'there is other code on its line' }
    list.push(added)
  }
  const inSight = declared.map(({ block, behindEnd, receiver }) => ({
    block,
    behindEnd,
    isServer: (value: Node) => serves(source, receiver, value),
  }))
  return { list: [...list, ...upgradeChanges(source, names.service, inSight)] }
}

/** `express()` becomes `express().use(verifyClaims().express())`: first of all, whatever follows. */
function link({ framework, service }: MountWish, style: Style, call: Node, guard: string): Change {
  const text = `.${framework.method}(${guardCall(style, guard, service)}.${framework.name}())`
  return { kind: 'chaining', at: endOf(call), text }
}

const isSame = (a: Change, b: Insertion) => a.kind === b.kind && a.at === b.at && a.text === b.text

/** One service serves them all. */
function shareOneBlock(source: Source, made: readonly Mountable[]): boolean {
  const [first] = made
  if (first === undefined || !('block' in first)) return false
  return made.every((one) => 'block' in one && contains(first.block, one.block))
}
