// long: builds and starts servers in Python
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PYTHON } from '../../../shared/integration/snippets/python.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { issuerOf, keyOfTheService, pemOf } from './application.ts'
import { claimsOf } from './cases.ts'
import { keepsItsPromises } from './promises.ts'

/** Debian's: another Python on the PATH has none of its packages. */
const INTERPRETER = '/usr/bin/python3'

function missing(...modules: readonly string[]): string | false {
  try {
    const imports = ['jwt', 'cryptography', ...modules].join(', ')
    execFileSync(INTERPRETER, ['-c', `import ${imports}`], { stdio: 'ignore' })
    return false
  } catch {
    return `${INTERPRETER} has no ${modules.join(', ')} (or no jwt, cryptography)`
  }
}

/** A project of one file: settings, an address and a page. */
const DJANGO_PROJECT = `import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path

settings.configure(
    DEBUG=False,
    SECRET_KEY='of the test',
    ALLOWED_HOSTS=['127.0.0.1'],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=['service_claims.ServiceClaims', 'django.middleware.security.SecurityMiddleware'],
)

def home(request):
    return HttpResponse(f"Hello {request.service_user['name']}\\n", content_type='text/plain')

urlpatterns = [path('', home)]
execute_from_command_line([sys.argv[0], 'runserver', '--noreload', os.environ['PORT']])
`

keepsItsPromises(PYTHON['django'], {
  missing: missing('django'),
  files: { 'manage.py': DJANGO_PROJECT },
  start: [INTERPRETER, 'manage.py'],
})
keepsItsPromises(PYTHON['flask'], {
  missing: missing('flask'),
  start: [INTERPRETER, 'app.py'],
})
keepsItsPromises(PYTHON['fastapi'], {
  missing: missing('fastapi', 'uvicorn'),
  start: [INTERPRETER, 'main.py'],
})

/** Opens a WebSocket as a server would, and tells what the application answers. */
const HANDSHAKE = `import asyncio, json, os, sys
import main

async def handshake(headers):
    answers = []
    scope = {'type': 'websocket', 'path': '/', 'query_string': b'', 'headers': headers}
    async def receive():
        return {'type': 'websocket.connect'}
    async def send(message):
        answers.append(message.get('code', message['type']))
    await main.app(scope, receive, send)
    return answers

signed = [(b'x-service-claims', sys.argv[1].encode())]
print(json.dumps([asyncio.run(handshake(headers)) for headers in ([], signed)]))
`

const options = { skip: missing('fastapi', 'uvicorn') }

t.test('the snippet for FastAPI guards WebSockets too', options, async (t) => {
  const folder = temporaryFolder(t)
  const base = 'http://localhost:8080'
  const key = await keyOfTheService()
  const { file, code } = PYTHON['fastapi']?.edge ?? { file: '', code: '' }
  writeFileSync(join(folder, file), code)
  writeFileSync(join(folder, 'service_public.pem'), pemOf(key))
  const printed = execFileSync(INTERPRETER, ['-c', HANDSHAKE, claimsOf(issuerOf(base, key))], {
    cwd: folder,
    env: { SERVICE_BASE_URL: base, SERVICE_TENANT_ID: 'acme', PYTHONPATH: folder },
  })
  const [POLICY_VIOLATION, NO_SUCH_ROUTE] = [1008, 1000]
  t.same(JSON.parse(printed.toString()), [[POLICY_VIOLATION], [NO_SUCH_ROUTE]])
})
