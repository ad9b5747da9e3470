# aicr serve: a page and an API; needs no network, no cluster and no file that it could write.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml build_catalog.py README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/aicr && /opt/aicr/bin/pip install --no-cache-dir '.[serve]'

FROM python:3.13-slim
COPY --from=build /opt/aicr /opt/aicr
RUN useradd --system --uid 65532 --no-create-home --shell /usr/sbin/nologin aicr
ENV PATH=/opt/aicr/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["aicr"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
