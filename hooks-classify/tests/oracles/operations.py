"""Prints the operations of AWS, one per line: the command, a tab, the members of its output with credentials.

The models of `botocore` name the members of every output and mark sensitive ones. A mark alone is not sufficient,
because personal data has it too: a member counts by its name, or by a vaguer name and the mark. The first line is
the version.
"""

import re

import botocore
import botocore.loaders
from botocore import xform_name
from botocore.model import ServiceModel

# Services that the command line spells differently from their models.
NAMES = {"config": "configservice", "codedeploy": "deploy"}

# Operations with a member that only looks like a credential (the revision of a policy), or needs an option.
WITHOUT = {"aws entityresolution get-policy", "aws apigateway get-api-key", "aws apigateway get-api-keys"}

# Members that are credentials by their names.
NAMED = re.compile(
    r"(?i)^((.*(password|passphrase|passwd|privatekey|keymaterial|secretstring|secretbinary|secretvalue|secretkey|secretaccesskey|clientsecret"
    r"|clientsecretvalue|sharedsecret|secrettoken|sessiontoken|authtoken|accesstoken|refreshtoken|idtoken|bearertoken|oauthtoken|jointoken"
    r"|securitytoken|authorizationtoken|authenticationtoken|presigned[a-z0-9]*url|signedurl|signinurl|loginurl|presharedkey|identifiersecret"
    r"|secrettoauthenticate[a-z]*|authkey|customergatewayconfiguration))|secret|accesskey|apikey|credential|token)$"
)
# Members that are credentials if they are marked as sensitive.
MARKED = re.compile(
    r"(?i)(token|credentials?|secret|password|key|jwt|connectionstring|plaintext"
    r"|(download|upload|embed|access|session|authorization|stream|ingest)url)$"
)
# Members with such a name but no credential: masked values, references to a secret, pagination markers.
HARMLESS = re.compile(
    r"(?i)(pendingmodifiedvalues|registrycredential|credentialsparameter|authenticateoidcconfig|verificationdetails|valuefrom"
    r"|(next|client|request|continuation|pagination|marker|idempotency|task|scroll|sync)token$|syncsessiontoken$|tokenbalance"
    r"|(^|\.)tags?\.|(^|\.)key\.|publickey|partitionkey|sortkey|objectkey|s3key|encryptionkey|kmskey|metadatakey|filterkey"
    r"|^findings\.|latestexecution\.token|metadata\.key$|sessiondata\.key$|tls\.certificate\.file)"
)


def members(shape, path=(), seen=()):
    """Yields the path of every member below a shape, with its shape."""
    if shape.name in seen:
        return
    seen = (*seen, shape.name)
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield (*path, name), member
            yield from members(member, (*path, name), seen)
    elif shape.type_name == "list":
        yield from members(shape.member, path, seen)
    elif shape.type_name == "map":
        yield from members(shape.value, path, seen)


def is_text(shape):
    if shape.type_name == "list":
        return is_text(shape.member)
    return shape.type_name in ("string", "blob", "map")


def sensitive(shape):
    if shape.metadata.get("sensitive"):
        return True
    return shape.type_name == "list" and sensitive(shape.member)


def credentials(operation):
    """Returns the members of the output that hold credentials."""
    if operation.output_shape is None:
        return []
    found = []
    for path, shape in members(operation.output_shape):
        name = path[-1]
        whole = ".".join(path)
        if not is_text(shape) or HARMLESS.search(whole):
            continue
        if NAMED.search(name) or MARKED.search(name) and sensitive(shape):
            found.append(whole)
    return found


def operations():
    loader = botocore.loaders.create_loader()
    for service in loader.list_available_services("service-2"):
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        for name in model.operation_names:
            command = xform_name(name, "-")
            found = credentials(model.operation_model(name))
            command = f"aws {NAMES.get(service, service)} {command}"
            yield command, [] if command in WITHOUT else found


if __name__ == "__main__":
    print(botocore.__version__)
    for command, found in operations():
        print(command, ", ".join(found[:6]), sep="\t")
