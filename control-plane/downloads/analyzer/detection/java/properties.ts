/** application.properties and application.yml: settings by their dotted names. */
import { isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml'
import type { Project } from '../../project/project.ts'
import type { Place } from '../application.ts'
import { under } from '../folders.ts'

export type Settings = ReadonlyMap<string, { readonly value: string; readonly at: Place }>

/** Of the default profile; what comes first wins, as it does for Spring. */
export async function readSettings(project: Project, folder: string): Promise<Settings> {
  const settings = new Map<string, { value: string; at: Place }>()
  const add = (name: string, value: string, at: Place) => {
    const key = name.toLowerCase().replaceAll(/[-_]/g, '')
    if (!settings.has(key)) settings.set(key, { value: withDefault(value), at })
  }
  for (const name of ['application.properties', 'application.yml', 'application.yaml']) {
    const path = under(folder, `src/main/resources/${name}`)
    const text = await project.read(path)
    if (text === null) continue
    if (name.endsWith('.properties')) ofProperties(text, path, add)
    else ofYaml(text, path, add)
  }
  return settings
}

type Add = (name: string, value: string, at: Place) => void

function ofProperties(text: string, path: string, add: Add) {
  text.split(/\r?\n/).forEach((line, index) => {
    const [, name, value = ''] = /^\s*([^#!\s=:][^\s=:]*)\s*[=:]?\s*(.*?)\s*$/.exec(line) ?? []
    if (name !== undefined) add(name, value, { path, line: index + 1 })
  })
}

function ofYaml(text: string, path: string, add: Add) {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, logLevel: 'silent' })
  // those behind the first are of profiles
  const [first] = Array.isArray(documents) ? documents : []
  flatten(first?.contents, '', 0)

  function flatten(node: unknown, prefix: string, depth: number) {
    if (!isMap(node) || depth > 20) return
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue
      const name = prefix + String(key.value)
      if (isScalar(value) && isPlain(value.value))
        add(name, String(value.value), { path, line: lines.linePos(key.range?.[0] ?? 0).line })
      else flatten(value, `${name}.`, depth + 1)
    }
  }
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** `${PORT:8080}` is 8080 where the environment says nothing. */
function withDefault(value: string): string {
  return value.replaceAll(/\$\{[^:}]*:([^}]*)\}/g, '$1')
}
