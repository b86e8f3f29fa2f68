/** One go.mod: its name, and what it requires of its own accord. */
import { byName, type Dependencies } from './dependencies.ts'

export function goModule(text: string, path: string): { name: string; dependencies: Dependencies } {
  const [, name = ''] = /^module\s+"?([^\s"]+)/m.exec(text) ?? []
  let isInBlock = false
  const required = text.split('\n').flatMap((line, index) => {
    if (/^\s*require\s*\(/.test(line)) isInBlock = true
    else if (/^\s*\)/.test(line)) isInBlock = false
    const [, module, version = null] =
      /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/[^\s]+)\s+(v\S+)/.exec(line) ?? []
    const isRequired = isInBlock || /^\s*require\s/.test(line)
    if (module === undefined || !isRequired || /\/\/\s*indirect/.test(line)) return []
    return [{ name: module, version, at: { path, line: index + 1 }, isDev: false }]
  })
  return { name, dependencies: byName(required) }
}
