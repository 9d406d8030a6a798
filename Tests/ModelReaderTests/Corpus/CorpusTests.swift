import ErrorExpectations
import Foundation
import ManagedModel
import ModelMigration
import ModelReader
import Testing

/// Models of real apps, which lie beside the package and not in it.
@Suite(.enabled(if: Corpus.isPresent, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct CorpusTests {
    @Test(arguments: Corpus.rows)
    func everyVersionIsReadWithAllItHolds(_ row: Corpus.Row) throws {
        let bundle = try ModelBundle(at: row.bundle)
        #expect(bundle.versions.contains(row.version))
        guard row.isXML else {
            let error = try requireThrows(ModelReaderError.self) {
                try ModelReader.read(row.bundle, version: row.version)
            }
            #expect(error.code == .binaryModel)
            return
        }
        let document = try Corpus.document(of: row)
        #expect(Corpus.counts(of: document.model) == row.counts)
        #expect(document.model.hash == (try ModelReader.read(row.bundle, version: row.version)).model.hash)
        try document.model.validate()
    }

    @Test(arguments: Corpus.rows)
    func theCurrentVersionIsTheOneThatTheBundleNames(_ row: Corpus.Row) throws {
        let current = try ModelBundle(at: row.bundle).currentVersion
        switch row.current {
        case "Y": #expect(current == row.version)
        case "?": #expect(current == nil)
        default: #expect(current != row.version)
        }
    }

    @Test(arguments: Corpus.rows.filter(\.isXML))
    func theOrderOfTheFileDoesNotReachTheHash(_ row: Corpus.Row) throws {
        let model = try Corpus.document(of: row).model
        var shuffled = model
        shuffled.entities.reverse()
        for index in shuffled.entities.indices {
            shuffled.entities[index].attributes.reverse()
            shuffled.entities[index].relationships.reverse()
            shuffled.entities[index].uniquenessConstraints.reverse()
        }
        #expect(shuffled.hash == model.hash)
        #expect(ModelDifference(from: model, to: shuffled).isEmpty)
    }

    /// Neighbouring versions of one app differ in words when, and only when, their hashes differ.
    @Test func versionsDifferInWordsWhenTheyDifferInHash() throws {
        var last: (bundle: URL, model: ManagedObjectModel)?
        for row in Corpus.rows where row.isXML {
            let model = try Corpus.document(of: row).model
            if let last, last.bundle == row.bundle {
                let difference = ModelDifference(from: last.model, to: model)
                #expect(difference.isEmpty == (last.model.hash == model.hash), "\(row)")
            }
            last = (row.bundle, model)
        }
    }
}
