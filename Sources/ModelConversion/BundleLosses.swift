internal import ManagedModel
internal import ModelCodeGenerator
internal import ModelReader
internal import ModelSource

/// Finds the parts of a model in Swift that a bundle cannot contain, and the parts that have another form in the
/// generated classes of the bundle.
struct BundleLosses {
    private let model: ManagedObjectModel
    private let properties: GeneratedProperties
    private(set) var diagnostics: [ModelDiagnostic] = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        properties = GeneratedProperties(of: model)
    }

    private mutating func add(_ file: SourceFolder.File, _ offset: Int, _ message: String) {
        diagnostics.append(ModelDiagnostic(file: file.path, line: file.source.line(of: offset), message: message))
    }

    /// - Parameter bundleName: The name of the bundle without its extension.
    /// - Throws: An error if the version cannot be the name of a folder in the bundle.
    mutating func read(
        _ found: SourceDeclarations.Found<SourceDeclarations.Model>, bundleName: String
    ) throws(ModelReaderError) {
        let version = model.version
        guard version.contains(where: { $0 != "." }),
            !version.unicodeScalars.contains(where: { "/\0".unicodeScalars.contains($0) })
        else {
            throw found.file.error(
                .invalidName, at: found.offset,
                "The version \"\(version)\" cannot be the name of a folder in a bundle. Give the model a version without a slash, as in ManagedObjectModel(\"\(bundleName)\", version: \"\(bundleName) 1\") { ... }."
            )
        }
        if model.name != bundleName {
            add(
                found.file, found.offset,
                "The model has the name \(model.name), but a bundle gives its own name to its model: \(bundleName).")
        }
        if !model.earlierVersions.isEmpty {
            add(
                found.file, found.offset,
                "earlierVersions: is left out: a bundle has the names of earlier versions only in its older versions. Add these versions to the bundle, or its lock file, before users migrate their stores."
            )
        }
    }

    mutating func read(_ found: SourceDeclarations.Found<EntitySource>) {
        let owner = found.value.name
        readTypeName(of: owner, found.path, found.file, found.offset)
        for attribute in found.value.attributes { read(attribute, of: owner, found.file) }
        for relationship in found.value.relationships {
            let name = properties.property(ofRelationship: relationship.name, in: owner)
            guard name != relationship.propertyName else { continue }
            let form = name.map { "is the property \($0)" } ?? "has no property"
            add(
                found.file, relationship.offset,
                "\(owner).\(relationship.propertyName) \(form) in the class that is generated for the bundle.")
        }
    }

    mutating func read(_ found: SourceDeclarations.Found<CompositeSource>) {
        let owner = found.value.name
        readTypeName(of: owner, found.path, found.file, found.offset)
        for attribute in found.value.attributes { read(attribute, of: owner, found.file) }
    }

    private mutating func readTypeName(of owner: String, _ path: String, _ file: SourceFolder.File, _ offset: Int) {
        guard let name = properties.typeName(of: owner), name != path else { return }
        add(file, offset, "\(path) is \(name) in the code that is generated for the bundle.")
    }

    private mutating func read(_ attribute: AttributeSource, of owner: String, _ file: SourceFolder.File) {
        let name = "\(owner).\(attribute.propertyName)"
        if let value = attribute.initialValue {
            let text = value.split(whereSeparator: \.isNewline).first.map(String.init) ?? value
            add(
                file, attribute.offset,
                "The initial value \(text) of \(name) is left out: a bundle contains only literals. Set the value of each new object in your code."
            )
        }
        guard let property = properties.property(of: attribute.name, in: owner) else {
            guard let reason = properties.omission(of: attribute.name, in: owner) else { return }
            return add(
                file, attribute.offset,
                "\(name) has no property in the class that is generated for the bundle: \(reason).")
        }
        if property.name != attribute.propertyName {
            add(
                file, attribute.offset,
                "\(name) is the property \(property.name) in the class that is generated for the bundle.")
        }
        if property.isOptional != attribute.hasOptionalProperty {
            add(
                file, attribute.offset,
                "\(name) is \(property.isOptional ? "an optional" : "not an optional") in the class that is generated for the bundle."
            )
        }
    }
}
