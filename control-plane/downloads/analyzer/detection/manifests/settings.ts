/** Settings files of properties, YAML and JSON: values by their dotted names, and where they stand. */
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml'
import type { Project } from '../../project/project.ts'
import type { Confidence, Place } from '../application.ts'
import type { Clue } from '../assemble.ts'
import { under } from '../folders.ts'
import { uncommented } from '../source/blank.ts'

export interface Setting {
  readonly name: string
  readonly value: string
  readonly at: Place
}

export interface SettingRule {
  /** Of the whole name, in which neither case nor `-` nor `_` counts. */
  readonly setting: RegExp
  /** Which of its matches counts, group 1: the first of the first pattern that any value has. */
  readonly reads: readonly RegExp[]
  /** Only where this has this value beside it. */
  readonly beside?: readonly [name: string, value: string]
  readonly confidence: Confidence
  readonly detail: string
}

/** Deeper than that nobody keeps settings. */
const DEPTH_MAX = 20

/** Of the default profile; a name that stands in several files is taken from the first of them. */
export async function readSettings(
  project: Project,
  folder: string,
  names: readonly string[],
): Promise<Setting[]> {
  const settings = new Map<string, Setting>()
  for (const path of names.map((name) => under(folder, name))) {
    const text = await project.read(path)
    if (text === null) continue
    const found = path.endsWith('.properties') ? ofProperties(text, path) : ofYaml(text, path)
    for (const { name, value, at } of found) {
      const key = normal(name)
      if (!settings.has(key)) settings.set(key, { name: key, value: withDefault(value), at })
    }
  }
  return [...settings.values()]
}

const normal = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, '')

export function settingOf(settings: readonly Setting[], name: string): Setting | null {
  return settings.find((one) => one.name === name) ?? null
}

export function settingSaid(settings: readonly Setting[], rule: SettingRule): Clue<string> | null {
  const { setting, reads, beside, confidence, detail } = rule
  const named = settings.filter(({ name }) => {
    if (!setting.test(name) || beside === undefined) return setting.test(name)
    const neighbour = name.slice(0, name.lastIndexOf('.') + 1) + beside[0]
    return settingOf(settings, neighbour)?.value === beside[1]
  })
  for (const pattern of reads)
    for (const { value, at } of named) {
      const [, read] = pattern.exec(value) ?? []
      if (read !== undefined) return { value: read, at, confidence, detail }
    }
  return null
}

const isOfProfile = ({ name }: Setting) =>
  /^spring\.(?:config\.activate\.onprofile|profiles)$/.test(normal(name))

function ofProperties(text: string, path: string): Setting[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, name, value = ''] = /^\s*([^#!\s=:][^\s=:]*)\s*[=:]?\s*(.*?)\s*$/.exec(line) ?? []
    return name === undefined ? [] : [{ name, value, at: { path, line: index + 1 } }]
  })
}

/** JSON is YAML as well, but for the comments that .NET allows in it. */
function ofYaml(text: string, path: string): Setting[] {
  const lines = new LineCounter()
  const yaml = path.endsWith('.json') ? uncommented(text, 'csharp') : text
  const documents = parseAllDocuments(yaml, { lineCounter: lines, logLevel: 'silent' })
  const read = (Array.isArray(documents) ? documents : []).map((one) => flat(one.contents, '', 0))
  // of two that say the same the last counts
  return read
    .filter((settings) => !settings.some(isOfProfile))
    .toReversed()
    .flat()

  function flat(node: unknown, prefix: string, depth: number): Setting[] {
    if (!isMap(node) || depth > DEPTH_MAX) return []
    return node.items.flatMap(({ key, value }) => {
      if (!isScalar(key) || isSeq(value)) return []
      const name = prefix + String(key.value)
      if (!isScalar(value)) return flat(value, `${name}.`, depth + 1)
      if (!['string', 'number', 'boolean'].includes(typeof value.value)) return []
      const { line } = lines.linePos(key.range?.[0] ?? 0)
      return [{ name, value: String(value.value), at: { path, line } }]
    })
  }
}

/** `${PORT:8080}` is 8080 where the environment says nothing. */
function withDefault(value: string): string {
  return value.replaceAll(/\$\{[^:}]*:([^}]*)\}/g, '$1')
}
