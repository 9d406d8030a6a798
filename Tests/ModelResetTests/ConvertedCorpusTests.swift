import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelConversion
import ModelReader
import ModelResetCommands
import TestSupport
import Testing

/// Models of real apps go there and back.
@Suite(.enabled(if: Corpus.isPresent, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct ConvertedCorpusTests {
    private static let rows = Corpus.rows.filter { $0.file.lastPathComponent == "contents" }

    @Test(arguments: rows)
    func everyVersionComesBackWithTheSameHashAndCounts(_ row: Corpus.Row) throws {
        let directory = try TemporaryDirectory()
        let version = row.file.deletingLastPathComponent()
        let bundle = version.deletingLastPathComponent()
        let isPart = bundle.pathExtension == "xcdatamodeld"
        let words =
            isPart ? [bundle.path, "--version", version.deletingPathExtension().lastPathComponent] : [version.path]
        let name = (isPart ? bundle : version).deletingPathExtension().lastPathComponent
        let swift = directory.url.appending(component: "Swift").path
        let back = directory.url.appending(component: "\(name).xcdatamodeld").path
        let converted = ModelReset.run(["convert"] + words + ["--output", swift])
        #expect(converted.status == 0, "\(converted.errors)")
        #expect(ModelReset.run(["convert", swift, "--output", back]).status == 0)
        let hash = ModelReset.run(["hash", "--json"] + words).output
        #expect(ModelReset.run(["hash", "--json", swift]).output == hash)
        #expect(ModelReset.run(["hash", "--json", back]).output == hash)
        #expect(try Corpus.counts(hash) == row.counts)

        let original = try ModelReader.read(
            isPart ? bundle : version, version: isPart ? version.lastPathComponent : nil
        ).model
        let written = try SwiftModelReader.read([swift])
        let (expected, found) = (Self.inSwift(original), Self.inSwift(written.model))
        for (one, other) in zip(expected.entities, found.entities) { #expect(one == other) }
        #expect(expected == found)
        // The macros warn of these parts, but Swift can contain them.
        #expect(written.diagnostics.map(\.message).sorted() == original.unsupportedParts.map(\.message).sorted())
    }

    /// The parts of a model that have one form in Swift, in this form: Swift declares all classes in the app's module, a property
    /// that is not optional is always a scalar, and a to-one relationship has no count. The attributes and relationships that
    /// get no property come after the others, so the properties are sorted here.
    private static func inSwift(_ model: ManagedObjectModel) -> ManagedObjectModel {
        func inSwift(_ attribute: AttributeDescription) -> AttributeDescription {
            var attribute = attribute
            if !attribute.isOptional { attribute.usesScalarValueType = false }
            return attribute
        }
        func inSwift(_ relationship: RelationshipDescription) -> RelationshipDescription {
            var relationship = relationship
            if !relationship.isToMany { relationship.minimumCount = 0 }
            return relationship
        }
        var model = model
        for index in model.entities.indices {
            let entity = model.entities[index]
            model.entities[index].codeGeneration = .class
            let className = entity.className?.split(separator: ".").last.map(String.init)
            model.entities[index].className = className ?? entity.name
            model.entities[index].attributes = entity.attributes.map(inSwift).sorted { $0.name < $1.name }
            model.entities[index].relationships = entity.relationships.map(inSwift).sorted { $0.name < $1.name }
        }
        for index in model.composites.indices {
            let attributes = model.composites[index].attributes.map(inSwift)
            model.composites[index].attributes = attributes.sorted { $0.name < $1.name }
        }
        return model
    }

    // MARK: Losses

    /// What these bundles say and Swift cannot, in the words of the reader of bundles. The reader corrects default values and
    /// inverses and ignores the setting of CloudKit, so the bundle and the Swift have the same model.
    private static let losses: [String: Set<String>] = [
        "JohnEstropia__CoreStore__CoreStoreDemo": ["secondsFromGMT: The default value \"0.0\" is read as 0."],
        "JohnEstropia__CoreStore__HardcoreDataDemo": ["hue: The default value \"0.0\" is read as 0."],
        "artsy__energy__ArtsyPartner": [
            "The inverse of Image.artist is Artist.thumbnail, which does not point back. The relationship is loaded without an inverse."
        ],
        "kiwix__kiwix-apple__DataModel": ["isMissing: The default value \"0.0\" is read as NO."],
        "kiwix__kiwix-apple__Kiwix-2020": ["stateRaw: The default value \"NO\" is read as 0."],
        "magicalpanda__MagicalRecord__TestModel-2012": [
            "The inverse of SingleRelatedEntity.testRelationship belongs to AbstractRelatedEntity, but the destination is ConcreteRelatedEntity."
        ],
        "passepartoutvpn__passepartout-apple__Profiles": [cloud],
        "passepartoutvpn__passepartout-apple__Profiles-2022": [cloud],
        "passepartoutvpn__passepartout-apple__Providers": [cloud],
        "wireapp__wire-ios-data-model__zmessaging": ["mutedStatus: The default value \"NO\" is read as 0."],
    ]
    private static let cloud = "The model: usedWithCloudKit is ignored. No object is copied to CloudKit."

    /// `convert` names each part that it leaves out. It leaves out no part of a model that was read from these bundles. The list
    /// has what the reader of bundles does not keep.
    @Test func whatSwiftCannotSayIsListedByName() throws {
        var found: [String: Set<String>] = [:]
        let place = PackageFiles.models.pathComponents.count
        for row in Self.rows {
            let document = try ModelReader.read(row.file.deletingLastPathComponent(), followsVersions: false)
            let kept = Set(document.model.unsupportedParts.map(\.message))
            let unread = document.diagnostics.map(\.message).filter { !kept.contains($0) }
            if !unread.isEmpty { found[row.file.pathComponents[place], default: []].formUnion(unread) }
            // The sentence about classes is about the app's other files: Swift files always declare the classes.
            let others = document.model.entities.contains { $0.codeGeneration != .class }
            let losses = ModelSourceWriter(document.model).losses
            #expect(losses.count == (others ? 1 : 0), "\(row.file.path): \(losses)")
            #expect(losses.allSatisfy { $0.hasPrefix("The files declare the classes of ") }, "\(losses)")
        }
        #expect(found == Self.losses)
    }
}
