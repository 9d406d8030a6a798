internal import ManagedModel
package import ModelReader
internal import ModelSource

/// Reads a model from Swift files: the classes with `@StoredEntity` that a `ManagedObjectModel("Name") { ... }` lists.
///
/// The reader maps classes with the code that the macros use, so the model has the same hash as in the program.
package struct SwiftModelReader {
    private let path: String
    private let declarations: SourceDeclarations
    private var diagnostics: [ModelDiagnostic]

    /// Whether a path leads to Swift files, and not to a model bundle.
    package static func isSwift(_ path: String) -> Bool {
        let name = path.hasSuffix("/") ? String(path.dropLast()) : path
        return name.hasSuffix(".swift") || !(name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel"))
    }

    /// Reads the model in a folder or in files.
    ///
    /// - Parameters:
    ///   - paths: The paths of folders and files, at least one.
    ///   - bundleName: The name of the bundle that the model is written to; nil if it is not written. The document then warns
    ///     of each part that a bundle cannot contain.
    /// - Throws: An error with file and line if a file cannot be read, if a class is not a valid part of a model, if there
    ///   is no model or more than one model, or if the version cannot be the name of a folder in the bundle.
    package static func read(
        _ paths: [String], forBundle bundleName: String? = nil
    ) throws(ModelReaderError) -> ModelDocument {
        let folder = try SourceFolder(paths)
        var reader = SwiftModelReader(
            path: paths[0], declarations: try SourceDeclarations(folder.files), diagnostics: folder.diagnostics)
        return try reader.document(forBundle: bundleName)
    }

    /// The first warning about a file that was not read. The warning can explain why a class is missing.
    private var firstWarning: String { diagnostics.first.map { " \($0.file): \($0.message)" } ?? "" }

    private func onlyModel() throws(ModelReaderError) -> SourceDeclarations.Found<SourceDeclarations.Model> {
        guard let found = declarations.models.first else {
            throw ModelReaderError(
                .notAModel, file: path,
                "These files contain no model. Write a model that lists its classes: ManagedObjectModel(\"Name\") { Class.self }.\(firstWarning)"
            )
        }
        if let other = declarations.models.dropFirst().first {
            throw other.file.error(
                .ambiguousModel, at: other.offset,
                "This is a second model: \(other.value.name), after \(found.value.name) in \(found.file.path):\(found.file.source.line(of: found.offset)). Give the path of a file or folder with only one model."
            )
        }
        return found
    }

    private mutating func document(forBundle bundleName: String?) throws(ModelReaderError) -> ModelDocument {
        let found = try onlyModel()
        var mapping = SourceMapping(declarations)
        let (entities, composites) = try members(of: found, mapping)
        let descriptions = try mapping.entities(entities)
        let structs = try mapping.composites(used: Set(composites.map(\.path)))
        var model = try mapping.model(found, descriptions, structs)
        diagnostics += mapping.diagnostics
        do throws(ModelError) {
            try model.validateStructure()
            try model.completeInverses()
            try model.validate()
        } catch {
            throw mapping.error(error, found)
        }
        diagnostics += mapping.unknownNames(in: model, found)
        // The model does not show which names the predicate of an unknown entity can contain.
        let unknown = Set(model.fetchRequests.filter { model.entity(named: $0.entityName) == nil }.map(\.name))
        diagnostics += model.unsupportedParts.filter { $0.owner != nil || !unknown.contains($0.name) }
            .map { mapping.diagnostic($0, found) }
        if let bundleName {
            try checkCharacters(of: model, mapping, found)
            try addLosses(model, found, entities, bundleName)
        }
        return ModelDocument(model: model, diagnostics: diagnostics)
    }

    /// Finds the listed classes and composites, and warns of each class that is not listed.
    private mutating func members(
        of found: SourceDeclarations.Found<SourceDeclarations.Model>, _ mapping: SourceMapping
    ) throws(ModelReaderError) -> (
        entities: [SourceDeclarations.Found<EntitySource>], composites: [SourceDeclarations.Found<CompositeSource>]
    ) {
        var entities: [SourceDeclarations.Found<EntitySource>] = []
        var composites: [SourceDeclarations.Found<CompositeSource>] = []
        var listed: Set<String> = []
        for member in found.value.members {
            let path = try mapping.path(of: member.name, in: found.path, found.file, at: member.offset)
            if let path, !listed.insert(path).inserted {
                throw found.file.error(
                    .duplicateName, at: member.offset, "\(member.name) is listed twice. Remove the second entry.")
            }
            if let entity = path.flatMap({ declarations.entities[$0] }) {
                entities.append(entity)
            } else if let composite = path.flatMap({ declarations.composites[$0] }) {
                composites.append(composite)
            } else {
                throw found.file.error(
                    .unknownReference, at: member.offset,
                    "No class \(member.name) with @StoredEntity is in these files. Add its file, or correct the name.\(firstWarning)"
                )
            }
        }
        for (name, entity) in declarations.entities.sorted(by: { $0.key < $1.key }) where !listed.contains(name) {
            diagnostics.append(
                ModelDiagnostic(
                    file: entity.file.path, line: entity.file.source.line(of: entity.offset),
                    message: "\(name) is in no model. List the class in \(found.value.name), or remove @StoredEntity."))
        }
        return (entities, composites)
    }

    /// Refuses a character that the files of a bundle cannot contain.
    private func checkCharacters(
        of model: ManagedObjectModel, _ mapping: SourceMapping,
        _ found: SourceDeclarations.Found<SourceDeclarations.Model>
    ) throws(ModelReaderError) {
        guard let part = ModelMarkup(model).forbiddenCharacter else { return }
        let digits = String(part.character.value, radix: 16, uppercase: true)
        let code = String(repeating: "0", count: 4 - digits.count) + digits
        let name = [part.owner, part.property].compactMap(\.self).joined(separator: ".")
        let fault = ModelError(
            .malformedSwift, entity: part.owner, property: part.property,
            "\(name.isEmpty ? "The model" : name) has a text with the character U+\(code), which a bundle cannot contain, because its files are XML. Remove the character."
        )
        throw mapping.error(fault, found)
    }

    /// Adds a warning for each part that a bundle cannot contain.
    private mutating func addLosses(
        _ model: ManagedObjectModel, _ found: SourceDeclarations.Found<SourceDeclarations.Model>,
        _ entities: [SourceDeclarations.Found<EntitySource>], _ bundleName: String
    ) throws(ModelReaderError) {
        var losses = BundleLosses(model)
        try losses.read(found, bundleName: bundleName)
        for entity in entities { losses.read(entity) }
        let names = Set(model.composites.map(\.name))
        for (_, composite) in declarations.composites.sorted(by: { $0.key < $1.key })
        where names.contains(composite.value.name) {
            losses.read(composite)
        }
        diagnostics += losses.diagnostics
    }
}
