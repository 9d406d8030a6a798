import CoreDataSource
import Foundation

// An address book in the style of each of the two libraries that this package follows. To run it: swift run address-book
let folder = FileManager.default.temporaryDirectory.appending(component: "address-book-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

print("A data source for each feature")
try await keepPerFeature(in: .sqlite(folder.appending(component: "contacts.sqlite")))

print("Active record")
try await keepAsActiveRecord()
