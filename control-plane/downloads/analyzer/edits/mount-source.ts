/** One source file with the middleware mounted on every application that it makes; or why not. */
import type { Node } from '@babel/types'
import { parseSource, type PackageType, type Source } from '../syntax/parse.ts'
import { lineAt, lineOf, startOf } from '../syntax/places.ts'
import { functionAround } from '../syntax/walk.ts'
import type { AddedStatements, Change } from './changes.ts'
import { freeNames, type FreeNames } from './free-names.ts'
import { importCode, importPlace, moduleFormOf } from './import-line.ts'
import { indentAt, lineEndBehind } from './line-places.ts'
import {
  applicationsIn,
  compact,
  contains,
  type MadeApplication,
  type Making,
} from './made-applications.ts'
import { importsPackage, mountedReceivers } from './mounted-already.ts'
import type { MountedFramework } from './mounted-frameworks.ts'
import { applied } from './same-tree.ts'
import { styleOf, type Style } from './style.ts'
import { isPartOfAnother } from './sub-applications.ts'
import { serves, upgradeChanges } from './upgrade-listeners.ts'
import { guardOf, type Wishes } from './wishes.ts'

export interface MountWish {
  readonly framework: MountedFramework
  readonly mode: Wishes['mode']
  readonly packageType: PackageType
  /** `await` at the top of a file is one, and not a word of another module system. */
  readonly hasTopLevelAwait: boolean
}

export type Mounting =
  | { readonly kind: 'there already' }
  | {
      readonly kind: 'edit'
      readonly after: string
      readonly line: number
      readonly shown: readonly Shown[]
    }
  | { readonly kind: 'manual'; readonly shown: readonly Shown[] }

/** What a person is to do. */
export interface Shown {
  /** null: where it is said to be. */
  readonly line: number | null
  readonly receiver: string
  readonly problem: string
}

export function mountInSource(source: Source, wish: MountWish): Mounting {
  const all = applicationsIn(source, wish.framework)
  const makings = all.filter(({ call }) => !isPartOfAnother(source, call, all))
  if (makings.length === 0) return manual({ line: null, receiver: 'app', problem: NOT_FOUND })
  const mounted = mountedReceivers(source)
  const open = makings.filter(
    (making) => !('made' in making) || !mounted.has(compact(making.made.receiver)),
  )
  if (open.length === 0) return { kind: 'there already' }
  const shown: Shown[] = open.flatMap((making) =>
    'problem' in making ? [shownOf(source, making)] : [],
  )
  const made = open.flatMap((making) => ('made' in making ? [making.made] : []))
  if (made.length === 0) return { kind: 'manual', shown }
  const everyOne = (problem: string) =>
    manual(...shown, ...made.map((one) => shownOfMade(source, one, problem)))
  if (importsPackage(source))
    return everyOne('service-node is used in this file already, in another way')
  if (wish.mode === 'sdk' && made.length > 1 && !shareOneBlock(source, made))
    return everyOne(
      'more than one application is made here, and enforce() is called once per process',
    )
  const names = freeNames(source, guardOf(wish))
  if (names === null) return everyOne('every name that would do is taken')

  const changes = changesFor(source, wish, made, names)
  if ('problem' in changes) return everyOne(changes.problem)
  const after = applied(source, changes.list, wish.packageType)
  if ('problem' in after) return everyOne(after.problem)
  if (!areMounted(source.path, after.text, wish, made))
    return everyOne('the lines would not do here')
  const [first] = made
  return { kind: 'edit', after: after.text, line: first ? lineOf(source, first.call) : 1, shown }
}

/** What was written has to be found again by what looks for it. */
function areMounted(
  path: string,
  text: string,
  { packageType }: MountWish,
  made: readonly MadeApplication[],
): boolean {
  const parsed = parseSource(path, text, packageType)
  if ('problem' in parsed) return false
  const mounted = mountedReceivers(parsed.source)
  return made.every(({ receiver }) => mounted.has(compact(receiver)))
}

const NOT_FOUND = 'no application is made here in a way that is known'

function manual(...shown: readonly Shown[]): Mounting {
  return { kind: 'manual', shown }
}

function shownOf(source: Source, making: Making & { problem: string }): Shown {
  return { line: lineOf(source, making.call), receiver: 'app', problem: making.problem }
}

function shownOfMade(source: Source, { call, receiver }: MadeApplication, problem: string): Shown {
  return { line: lineOf(source, call), receiver, problem }
}

function changesFor(
  source: Source,
  wish: MountWish,
  made: readonly MadeApplication[],
  names: FreeNames,
): { readonly list: readonly Change[] } | { readonly problem: string } {
  const style = styleOf(source)
  const code = importCode(moduleFormOf(source), style, { guard: guardOf(wish), local: names.guard })
  const list: Change[] = []
  const declared: MadeApplication[] = []
  for (const one of [...made].sort((a, b) => a.behindEnd - b.behindEnd)) {
    const isDeclared = declared.some(
      (other) => contains(other.block, one.block) && other.behindEnd < one.behindEnd,
    )
    const lines = isDeclared ? [] : [serviceLine(style, names)]
    if (!isDeclared) {
      const place = importPlace(source, style, code, one.behind)
      if (place === 'where it is used') lines.unshift(code)
      else if ('problem' in place) return place
      else if (
        !list.some(
          (change) =>
            change.kind === 'statements' && change.at === place.at && change.text === place.text,
        )
      )
        list.push(place)
      declared.push(one)
    }
    lines.push(mountLine(source, style, wish, one, names))
    const added = linesBehind(source, style, one, lines)
    if (added === null) return { problem: 'there is more on its line' }
    list.push(added)
  }
  const inSight = declared.map(({ block, behindEnd, receiver }) => ({
    block,
    behindEnd,
    isServer: (value: Node) => serves(source, receiver, value),
  }))
  return { list: [...list, ...upgradeChanges(source, names.service, inSight)] }
}

function serviceLine(style: Style, names: FreeNames): string {
  return `${style.constant} ${names.service} = ${names.guard}()${style.semicolon}`
}

function mountLine(
  source: Source,
  style: Style,
  wish: MountWish,
  one: MadeApplication,
  { service }: Pick<FreeNames, 'service'>,
): string {
  const { method, adapter, remark } = wish.framework
  const isAwaited = method === 'register' && canAwait(source, one.behind, wish)
  const call = `${one.receiver}.${method}(${service}.${adapter}())`
  return `${isAwaited ? 'await ' : ''}${call}${style.semicolon} // ${remark}`
}

function canAwait(source: Source, node: Node, { hasTopLevelAwait }: MountWish): boolean {
  const around = functionAround(source.parents, node)
  if (around === null) return hasTopLevelAwait
  return 'async' in around && around.async === true && !isGenerator(around)
}

const isGenerator = (node: Node) => 'generator' in node && node.generator === true

function linesBehind(
  source: Source,
  style: Style,
  one: MadeApplication,
  lines: readonly string[],
): AddedStatements | null {
  const at = lineEndBehind(source, one.behindEnd)
  const indent = one.isFirstOfBlock
    ? indentInside(source, style, one.block)
    : indentAt(source, startOf(one.behind))
  if (at === null || indent === null) return null
  // a line that begins like this would go on where ours ends
  const isOpenEnded = style.semicolon === '' && /^\s*[([`+\-/*,.]/.test(codeBehind(source, at))
  const text = lines.map((line, index) => {
    const isLast = index === lines.length - 1
    return `${style.lineBreak}${indent}${isLast && isOpenEnded ? line.replace(') //', '); //') : line}`
  })
  return { kind: 'statements', at, text: text.join('') }
}

/** Without the comments that follow next. */
function codeBehind(source: Source, offset: number): string {
  let at = offset
  for (;;) {
    at += /^\s*/.exec(source.text.slice(at))?.[0].length ?? 0
    const comment = source.comments.find(({ start }) => start === at)
    if (comment === undefined) return source.text.slice(at, at + 1)
    at = comment.end ?? at + 1
  }
}

function indentInside(source: Source, style: Style, block: Node): string | null {
  const first = block.type === 'BlockStatement' ? block.body[0] : undefined
  if (first && lineAt(source, startOf(first)) !== lineAt(source, startOf(block)))
    return indentAt(source, startOf(first))
  const parent = source.parents.get(block)
  const own = parent ? indentAt(source, startOf(parent)) : null
  return own === null ? null : own + style.step
}

function shareOneBlock(source: Source, made: readonly MadeApplication[]): boolean {
  const [first] = made
  return first !== undefined && made.every(({ block }) => contains(first.block, block))
}
