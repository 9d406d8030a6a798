// error: is unavailable: A context makes its objects: let book = try context.insert(Book.self), in perform of the data source, in a hook, or in a Draft.
import CoreDataSource

func contact() -> Contact {
    Contact()
}
