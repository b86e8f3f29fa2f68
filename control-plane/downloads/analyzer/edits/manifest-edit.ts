/** `service-node` in a package.json: one line more, and not another byte changed. */
import { parseExpression } from '@babel/parser'
import type { Node, ObjectExpression, ObjectProperty } from '@babel/types'
import { endOf, startOf } from '../syntax/places.ts'
import { PACKAGE } from './import-line.ts'
import { stepOf } from './style.ts'

type ManifestEdit =
  | { readonly kind: 'there already' }
  | { readonly kind: 'edit'; readonly after: string }
  | { readonly kind: 'manual'; readonly line: number; readonly problem: string }

/** Where a package may be named; what is installed for a build alone is not there in production. */
const LISTS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const

export function withDependency(text: string | null, address: string): ManifestEdit {
  if (text === null) return { kind: 'manual', line: 1, problem: 'it cannot be read' }
  const whole = objectOf(text)
  if (whole === null) return { kind: 'manual', line: 1, problem: 'it cannot be read as JSON' }
  for (const list of LISTS) {
    const value = membersOf(whole, list).at(-1)?.value
    const named = value?.type === 'ObjectExpression' ? membersOf(value, PACKAGE).at(-1) : undefined
    if (named === undefined) continue
    const isOurs = named.value.type === 'StringLiteral' && named.value.value === address
    if (isOurs && list === 'dependencies') return { kind: 'there already' }
    const problem = isOurs
      ? `it lists ${PACKAGE} under ${list}, but the application needs it under dependencies`
      : `it already lists ${PACKAGE}, but from a different address than this service's`
    return { kind: 'manual', line: named.loc?.start.line ?? 1, problem }
  }
  const after = added(text, whole, address)
  return after !== null && isAsExpected(text, after, address)
    ? { kind: 'edit', after }
    : { kind: 'manual', line: 1, problem: 'its dependencies have an unusual format' }
}

/** JSON is JavaScript, and the parser tells where each member stands. */
function objectOf(text: string): ObjectExpression | null {
  try {
    JSON.parse(text)
    const node = parseExpression(text, { createParenthesizedExpressions: true })
    return node.type === 'ObjectExpression' ? node : null
  } catch {
    return null
  }
}

function membersOf({ properties }: ObjectExpression, name: string): ObjectProperty[] {
  return properties.filter((property): property is ObjectProperty => nameOf(property) === name)
}

/** Every member of JSON has one. */
const nameOf = (member: Node) =>
  member.type === 'ObjectProperty' && member.key.type === 'StringLiteral' ? member.key.value : ''

function added(text: string, whole: ObjectExpression, address: string): string | null {
  const [list, ...more] = membersOf(whole, 'dependencies')
  if (more.length > 0) return null
  const member = `${JSON.stringify(PACKAGE)}:${spaceOf(text)}${JSON.stringify(address)}`
  if (list !== undefined)
    return list.value.type === 'ObjectExpression' ? addedTo(text, list.value, member) : null
  const lineBreak = lineBreakOf(text)
  const step = lineBreak === '' ? '' : stepOf(text)
  const inner = `{${lineBreak}${step}${step}${member}${lineBreak}${step}}`
  const all = `"dependencies":${spaceOf(text)}${inner}`
  const next = whole.properties.find((property) =>
    /^(?:dev|optional|peer|bundled?)Dependencies$/.test(nameOf(property)),
  )
  return inserted(text, whole, next, all)
}

/** Where the alphabet has it, if the others stand in its order; else at the end. */
function addedTo(text: string, list: ObjectExpression, member: string): string {
  const names = list.properties.map(nameOf)
  const isSorted = names.every(
    (name, index) => index === 0 || compare(names[index - 1] ?? '', name) <= 0,
  )
  const next = isSorted ? names.findIndex((name) => compare(name, PACKAGE) > 0) : -1
  return inserted(text, list, list.properties[next], member)
}

/** As npm sorts them. */
const compare = (a: string, b: string) => a.localeCompare(b, 'en')

/** Before `next`, or else at the end: with the gap that stands before its neighbour. */
function inserted(
  text: string,
  list: ObjectExpression,
  next: Node | undefined,
  member: string,
): string {
  const neighbour = next ?? list.properties.at(-1)
  if (neighbour === undefined) {
    const lineBreak = lineBreakOf(text)
    const step = stepOf(text)
    const start = list.start ?? 0
    const own = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', start) + 1))?.[0] ?? ''
    const inner = lineBreak === '' ? member : `${lineBreak}${own}${step}${member}${lineBreak}${own}`
    return `${text.slice(0, start + 1)}${inner}${text.slice((list.end ?? 1) - 1)}`
  }
  const gap = /\s*$/.exec(text.slice(0, startOf(neighbour)))?.[0] ?? ''
  const at = next ? startOf(next) : endOf(neighbour)
  const piece = next ? `${member},${gap}` : `,${gap}${member}`
  return `${text.slice(0, at)}${piece}${text.slice(at)}`
}

function lineBreakOf(text: string): '' | '\n' | '\r\n' {
  return text.trim().includes('\n') ? (text.includes('\r\n') ? '\r\n' : '\n') : ''
}

const spaceOf = (text: string) => (/":\s/.test(text) ? ' ' : '')

/** The same document with one name more. */
function isAsExpected(before: string, after: string, address: string): boolean {
  try {
    const was = JSON.parse(before) as Record<string, unknown>
    const is = JSON.parse(after) as Record<string, unknown>
    const list = { ...(was['dependencies'] as object | undefined), [PACKAGE]: address }
    return canonical({ ...was, dependencies: list }) === canonical(is)
  } catch {
    return false
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
