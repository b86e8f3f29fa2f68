/**
 * What pages of the console load: one style sheet, one script, and another pair where something is
 * plotted. Each has its hash in its name, so browsers keep it for good. Made when first asked for,
 * and once in a process: they are made of the code.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { bundle } from '../downloads/bundling/bundle.ts'
import { compressed, type Compressed } from '../http/compressed.ts'
import { STYLE } from './style.ts'

interface Asset {
  readonly path: string
  readonly mediaType: string
  readonly content: Compressed
}

/** Addresses from the root; undefined where a script could not be made: pages work without. */
export interface AssetUrls {
  readonly style: string
  readonly script: string | undefined
  readonly charts: { readonly style: string; readonly script: string } | undefined
}

export const ASSETS_PATH = '/console/assets/'

let made: Promise<Made> | undefined

export function createAssets({ log }: { readonly log: Pick<Logger, 'error'> }) {
  const all = () => (made ??= make(log))
  return {
    async urls(): Promise<AssetUrls> {
      const { style, script, charts } = await all()
      return {
        style: style.path,
        script: script?.path,
        charts: charts && { style: charts.style.path, script: charts.script.path },
      }
    },
    async find(path: string) {
      const { style, script, charts } = await all()
      return [style, script, charts?.style, charts?.script].find((asset) => asset?.path === path)
    },
  }
}

interface Made {
  readonly style: Asset
  readonly script: Asset | undefined
  readonly charts: { readonly style: Asset; readonly script: Asset } | undefined
}

async function make(log: Pick<Logger, 'error'>): Promise<Made> {
  const style = assetOf('console', 'css', STYLE)
  try {
    const [script, charts, chartsStyle] = await Promise.all([
      scriptOf('console'),
      scriptOf('charts'),
      readFile(fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css')), 'utf8'),
    ])
    return {
      style,
      script,
      charts: { script: charts, style: assetOf('charts', 'css', chartsStyle) },
    }
  } catch (error) {
    log.error({ error }, 'the scripts of the console cannot be made, pages go without')
    return { style, script: undefined, charts: undefined }
  }
}

async function scriptOf(name: string): Promise<Asset> {
  const entry = new URL(`browser/${name}.ts`, import.meta.url)
  const { codes } = await bundle({ entry, formats: ['esm'], platform: 'browser' })
  return assetOf(name, 'js', codes[0] ?? '')
}

function assetOf(name: string, ending: 'css' | 'js', text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const mediaType = ending === 'css' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8'
  return {
    path: `${ASSETS_PATH}${name}-${hash}.${ending}`,
    mediaType,
    content: compressed(text),
  }
}
