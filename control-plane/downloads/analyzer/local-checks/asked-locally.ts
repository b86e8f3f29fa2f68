/** Requests to the application on this machine, and to the service: short, bounded, not followed. */
import type { Application } from '../detection/application.ts'
import { objectIn } from '../json.ts'
import { readBounded } from '../service-client.ts'
import type { LookedAt } from './looked-at.ts'

const TIMEOUT_MS = 5000
const ANSWER_BYTES_MAX = 64 * 1024

interface LocalAnswer {
  readonly status: number
  readonly url: string
  /** The middleware answered, or stands there without its keys. */
  readonly isGuarded: boolean
}

/** null: nobody listens there, or nobody answers in time. */
export async function askApplication(
  at: LookedAt,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<LocalAnswer | null> {
  const port = portOf(at)
  if (port === null) return null
  // by name some listen on one of the two only
  for (const host of ['127.0.0.1', '[::1]']) {
    const url = `http://${host}:${port}${path}`
    try {
      const answer = await at.world.fetch(url, {
        headers: { accept: '*/*', 'user-agent': 'service-analyzer', ...more },
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.body?.cancel()
      const isGuarded = answer.headers.has('x-service-probe-reply') || answer.status === 503
      return { status: answer.status, url, isGuarded }
    } catch {
      // the other one
    }
  }
  return null
}

export function portOf({ world, application }: LookedAt): number | null {
  const given = Number(world.environment['PORT'])
  const isPort = Number.isInteger(given) && given > 0 && given < 65_536
  return world.port ?? (isPort ? given : application.port)
}

/** Of the service, without a key: what anybody may read. */
export async function askService({ world }: LookedAt, path: string): Promise<Response | null> {
  try {
    return await world.fetch(`${world.baseUrl}${path}`, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch {
    return null
  }
}

/** null: too long, broken off, or no object in JSON. */
export async function boundedJson(answer: Response, baseUrl: string) {
  return objectIn(await readBounded(answer, ANSWER_BYTES_MAX, baseUrl).catch(() => null))
}

/** How to start it, for whoever has not. */
export const howToStart = ({ application }: LookedAt) => startOf(application)

export function startOf({ framework, packageManager, entry }: Application): string {
  const ofPython = `python ${entry?.path ?? 'main.py'}`
  const starts: Partial<Record<typeof framework, string>> = {
    django: 'python manage.py runserver',
    flask: ofPython,
    fastapi: ofPython,
    rails: 'bin/rails server',
    laravel: 'php artisan serve',
    spring: packageManager === 'gradle' ? './gradlew bootRun' : './mvnw spring-boot:run',
    aspnet: 'dotnet run',
    go: 'go run .',
  }
  return starts[framework] ?? `${packageManager ?? 'npm'} start`
}
