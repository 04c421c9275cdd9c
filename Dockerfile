# The proxy with its embedded NLI model; the embedded upstream is not in it, since it is for trying only.
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
RUN pip install --no-cache-dir uv==0.13.9
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY proxy proxy
COPY models/embedded models/embedded
RUN uv export --frozen --no-dev --no-emit-project --output-file requirements.txt \
    && uv venv /venv \
    && uv pip install --python /venv --no-cache --compile-bytecode --requirement requirements.txt \
    && uv pip install --python /venv --no-cache --compile-bytecode --no-deps .

FROM python:3.11-slim-bookworm
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --uid 10001 corrigenda
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 CORRIGENDA_LISTEN_HOST=0.0.0.0
USER 10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
ENTRYPOINT ["corrigenda"]
CMD ["serve"]
