/** On which port ASP.NET Core listens: what the code, the settings and the start profiles say. */
import type { Project } from '../../project/project.ts'
import type { Clue } from '../assemble.ts'
import { under } from '../folders.ts'
import { isTable, tableIn, textIn, type Table } from '../manifests/toml.ts'
import { uncommented } from '../source/blank.ts'
import { hits, placeAt, stringAt, type Source } from '../source/source.ts'

export async function portOf(
  project: Project,
  folder: string,
  sources: readonly Source[],
): Promise<Clue<number> | null> {
  return (
    ofCode(sources) ?? (await ofSettings(project, folder)) ?? (await ofProfiles(project, folder))
  )
}

/** `app.Run("http://0.0.0.0:8080")`, `UseUrls("http://*:5005")` */
function ofCode(sources: readonly Source[]): Clue<number> | null {
  for (const source of sources)
    for (const { index, end } of hits(
      source,
      /\b(?:Run|RunAsync|UseUrls|Urls\s*\.\s*Add)\s*\(\s*/,
    )) {
      const port = portIn(stringAt(source, end) ?? '')
      if (port !== null)
        return {
          value: port,
          at: placeAt(source, index),
          confidence: 'sure',
          detail: 'The code says so.',
        }
    }
  return null
}

/** appsettings.json: `Kestrel:Endpoints:*:Url`, or `Urls`. */
async function ofSettings(project: Project, folder: string): Promise<Clue<number> | null> {
  const path = under(folder, 'appsettings.json')
  const read = await readJson(project, path)
  if (read === null) return null
  const endpoints = Object.values(tableIn(read.table, 'Kestrel', 'Endpoints')).filter(isTable)
  const urls = [textIn(read.table, 'Urls'), ...endpoints.map((endpoint) => textIn(endpoint, 'Url'))]
  return first(urls, read.text, path, 'sure', 'The settings say so.')
}

/** Properties/launchSettings.json is for developers: likely, no more. */
async function ofProfiles(project: Project, folder: string): Promise<Clue<number> | null> {
  const path = under(folder, 'Properties/launchSettings.json')
  const read = await readJson(project, path)
  if (read === null) return null
  const profiles = Object.values(tableIn(read.table, 'profiles')).filter(isTable)
  const urls = profiles
    .filter((profile) => textIn(profile, 'commandName') === 'Project')
    .flatMap((profile) => (textIn(profile, 'applicationUrl') ?? '').split(';'))
  return first(urls, read.text, path, 'likely', 'It is started there while it is developed.')
}

/** Plain HTTP first: that is what stands behind an edge. */
function first(
  urls: readonly (string | null)[],
  text: string,
  path: string,
  confidence: 'sure' | 'likely',
  detail: string,
): Clue<number> | null {
  const given = urls.filter((url) => url !== null && portIn(url) !== null)
  const url = given.find((url) => url?.startsWith('http:')) ?? given[0]
  const port = portIn(url ?? '')
  if (port === null) return null
  const line = text.slice(0, text.indexOf(`:${port}`)).split('\n').length
  return { value: port, at: { path, line }, confidence, detail }
}

function portIn(text: string): number | null {
  const [, port] = /^https?:\/\/[^/\s]*?:(\d{2,5})(?:[/;]|$)/.exec(text) ?? []
  return port === undefined ? null : Number(port)
}

/** JSON as .NET reads it: with comments. */
async function readJson(
  project: Project,
  path: string,
): Promise<{ text: string; table: Table } | null> {
  const text = await project.read(path)
  if (text === null) return null
  try {
    const parsed: unknown = JSON.parse(uncommented(text, 'csharp').replaceAll(/,(?=\s*[}\]])/g, ''))
    return isTable(parsed) ? { text, table: parsed } : null
  } catch {
    return null
  }
}
