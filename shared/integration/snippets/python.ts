/**
 * Python: PyJWT on cryptography proves the signature. What PyJWT takes and we do not (a list of
 * audiences, one leeway for exp and iat, `crit`) is refused beside it.
 */
import type { FrameworkSnippet } from './snippet.ts'

/** What the three share: what a request deserves. */
const CHECK = String.raw`BASE_URL = os.environ['SERVICE_BASE_URL'].rstrip('/')
TENANT_ID = os.environ['SERVICE_TENANT_ID']
KEY_FILE = os.environ.get('SERVICE_PUBLIC_KEY_FILE', 'service_public.pem')
ISSUER = f'{BASE_URL}/auth/realms/{TENANT_ID}'
AUDIENCE = f'{TENANT_ID}-user'
JWT = re.compile(r'[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+')
PEM = re.compile(rb'-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----')


def keys_by_kid(pems):
    """A kid is the RFC 7638 thumbprint of its key, so a PEM needs no name."""
    keys = {}
    for pem in PEM.findall(pems):
        key = load_pem_public_key(pem)
        jwk = json.loads(RSAAlgorithm.to_jwk(key))
        text = json.dumps({name: jwk[name] for name in ('e', 'kty', 'n')}, separators=(',', ':'))
        digest = hashlib.sha256(text.encode()).digest()
        keys[base64.urlsafe_b64encode(digest).rstrip(b'=').decode()] = key
    return keys


installed = {}
if os.path.exists(KEY_FILE):
    with open(KEY_FILE, 'rb') as file:
        installed = keys_by_kid(file.read())
keys = installed
fetching = threading.Lock()
fetch_again_at = 0


def fetched_keys():
    url = f'{BASE_URL}/tenants/{TENANT_ID}/public-key'
    request = urllib.request.Request(url, headers={'Accept': 'application/x-pem-file'})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return keys_by_kid(answer.read(65536))


def key_for(kid):
    """A key that was rotated in since is fetched when it first appears: every 10 s at most."""
    global keys, fetch_again_at
    if kid not in keys:
        with fetching:
            if kid not in keys and time.monotonic() >= fetch_again_at:
                fetch_again_at = time.monotonic() + 10
                keys = installed | fetched_keys()
    return keys[kid]


def proven(token, typ, names):
    """The claims that the service signed for this application, or None: deny when unsure."""
    try:
        if not JWT.fullmatch(token):
            return None
        header = jwt.get_unverified_header(token)
        if header.get('typ', 'JWT') != typ or 'crit' in header:
            return None
        claims = jwt.decode(
            token,
            key_for(header['kid']),
            algorithms=['RS256'],
            issuer=ISSUER,
            audience=AUDIENCE,
            # iat is judged below: PyJWT has one leeway for both, and exp gets none
            options={'require': ['iss', 'aud', 'exp', 'iat'], 'verify_iat': False},
        )
        is_ours = claims['aud'] == AUDIENCE and claims['iat'] <= time.time() + 60
        is_whole = all(isinstance(claims.get(name), str) and claims[name] for name in names)
        return claims if is_ours and is_whole else None
    except (OSError, http.client.HTTPException) as error:
        logging.warning('could not fetch the public keys: %s', error)
    except (jwt.PyJWTError, KeyError, TypeError, ValueError):
        pass
    return None


def check(token, probe):
    """The user, or the status and X-Service-Probe-Reply to answer with. A header that came
    twice is joined by a comma, which no JWT contains."""
    if probe is None:
        return proven(token or '', 'JWT', ['sub', 'sid']), 401, ''
    claims = proven(probe, 'service-probe+jwt', ['nonce'])
    if claims and claims['exp'] - claims['iat'] <= 60:
        return None, 204, claims['nonce']
    return None, 401, ''
`

const HEAD = (where: string, packages: string) => `"""${where}

Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let only
the gateway reach this application all the same: sessions are ended early there, not here.
"""
import base64
import hashlib
import http.client
import json
import logging
import os
import re
import threading
import time
import urllib.request

${packages}

${CHECK}`

const DJANGO = String.raw`${HEAD(
  `settings.py: MIDDLEWARE = ['service_claims.ServiceClaims', ...], first of all.`,
  `import jwt
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.http import HttpResponse
from jwt.algorithms import RSAAlgorithm`,
)}

class ServiceClaims:
    """Views find the user's claims in request.service_user. What runs beside Django's views, such
    as consumers of Channels, is not behind it."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        token, probe = (request.headers.get(f'X-Service-{name}') for name in ('Claims', 'Probe'))
        user, status, reply = check(token, probe)
        if user is None:
            return HttpResponse(status=status, headers={'X-Service-Probe-Reply': reply})
        request.service_user = user
        return self.get_response(request)
`

const FLASK = String.raw`${HEAD(
  'Run it with: python app.py',
  `import jwt
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from flask import Flask, g, request
from jwt.algorithms import RSAAlgorithm`,
)}

app = Flask(__name__)


@app.before_request
def sign_in():
    """Runs before every route, static files and 404 included."""
    token, probe = (request.headers.get(f'X-Service-{name}') for name in ('Claims', 'Probe'))
    g.user, status, reply = check(token, probe)
    if g.user is None:
        return '', status, {'X-Service-Probe-Reply': reply}


@app.get('/')
def home():
    return f"Hello {g.user['name']}\n", {'Content-Type': 'text/plain; charset=utf-8'}


if __name__ == '__main__':
    app.run(port=int(os.environ.get('PORT', 3000)))
`

const FASTAPI = String.raw`${HEAD(
  'Run it with: python main.py',
  `import jwt
import uvicorn
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from fastapi import Depends, FastAPI, Response
from fastapi.responses import PlainTextResponse
from jwt.algorithms import RSAAlgorithm
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocketClose`,
)}

class ServiceClaims:
    """Plain ASGI, since an 'http' middleware would leave WebSockets open."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope['type'] == 'lifespan':
            return await self.app(scope, receive, send)
        headers = HTTPConnection(scope).headers
        lines = (headers.getlist(f'X-Service-{name}') for name in ('Claims', 'Probe'))
        token, probe = (','.join(line) if line else None for line in lines)
        # keys may have to be fetched, and the event loop must not wait for that
        user, status, reply = await run_in_threadpool(check, token, probe)
        if user is not None:
            scope.setdefault('state', {})['user'] = user
            return await self.app(scope, receive, send)
        refusal = Response(status_code=status, headers={'X-Service-Probe-Reply': reply})
        answer = WebSocketClose(1008) if scope['type'] == 'websocket' else refusal
        await answer(scope, receive, send)


def current_user(connection: HTTPConnection) -> dict:
    return connection.state.user


app = FastAPI()
app.add_middleware(ServiceClaims)


@app.get('/', response_class=PlainTextResponse)
def home(user: dict = Depends(current_user)):
    return f"Hello {user['name']}\n"


if __name__ == '__main__':
    uvicorn.run(app, port=int(os.environ.get('PORT', 3000)))
`

const PYTHON_MODES = { language: 'python', modes: ['gateway', 'connector'] } as const

export const PYTHON: Readonly<Record<string, FrameworkSnippet>> = {
  django: {
    name: 'Django',
    ...PYTHON_MODES,
    edge: {
      install: `pip install django 'pyjwt[crypto]'`,
      file: 'service_claims.py',
      code: DJANGO,
    },
  },
  flask: {
    name: 'Flask',
    ...PYTHON_MODES,
    edge: { install: `pip install flask 'pyjwt[crypto]'`, file: 'app.py', code: FLASK },
  },
  fastapi: {
    name: 'FastAPI',
    ...PYTHON_MODES,
    edge: {
      install: `pip install fastapi uvicorn 'pyjwt[crypto]'`,
      file: 'main.py',
      code: FASTAPI,
    },
  },
}
