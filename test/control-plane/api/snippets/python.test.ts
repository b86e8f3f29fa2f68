import { execFileSync } from 'node:child_process'
import { PYTHON } from '../../../../control-plane/api/contract/snippets/python.ts'
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
